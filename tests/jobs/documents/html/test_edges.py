"""Lines at the end of a text: what speaks of the page goes, and a last sentence that begins like it stays."""

from __future__ import annotations

import pytest

from quern.jobs.documents.html.edges import without_filing
from quern.jobs.documents.html.extract import extract_page

BODY = ("The harbour board met on Tuesday and read the figures of the year.", "Nobody spoke against the new timetable.")


@pytest.mark.parametrize(
    "last",
    [
        "Publicado en 1998, el libro ganó el premio nacional.",
        "Copyright in the text belongs to the author's family, who gave leave to print it here.",
        "Copyright law was changed twice, in 1911 and in 1956, and the heirs lost both times.",
        "Topics covered include tides, currents and the reading of charts in fog.",
        "Topics: the tides, which the board had measured, and the currents, which it had not.",
        "Veröffentlicht von einem kleinen Verlag, wurde der Band rasch ein Erfolg.",
        "Dieser Beitrag wurde von der Jury mit dem ersten Preis bedacht.",
        "Posted by the gate, the sentry saw nothing",
        "(c) the buyer pays what the harbour board asks of him.",
    ],
)
def test_a_last_line_that_begins_as_filing_does_stays(last: str) -> None:
    page = f"<html><body><article><h1>Board</h1>{''.join(f'<p>{line}</p>' for line in (*BODY, last))}</article></body>"
    assert extract_page(page.encode(), "https://seite.example/", "utf-8")["text"].split("\n")[-1] == last


@pytest.mark.parametrize(
    "last",
    [
        "Filed under: Harbour |",
        "Tags | harbour, board",
        "Tags",
        "标签：港口 会议",
        "Posted on May 3, 2024 by Ann",
        "Publié le 3 mai 2024",
        "Dieser Beitrag wurde am 3. Mai 2024 unter Hafen veröffentlicht. Setze ein Lesezeichen auf den Permalink.",
        "© Seite",
        "Copyright ⓒ Seite. 무단전재 및 재배포 금지",
        "copyright Seite 2019 - ISSN: 1234-5678",
        "© 2019 Seite. All Rights Reserved. This material may not be published, broadcast or rewritten.",
        "Copyright Seite News. All rights reserved.",
        "(c) 2019 Seite",
        "Alle Rechte vorbehalten.",
    ],
)
def test_a_last_line_that_speaks_of_the_page_goes(last: str) -> None:
    assert without_filing("\n".join((*BODY, last))) == "\n".join(BODY)
