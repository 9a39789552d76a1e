"""Main text of pages written before the rules that read them: strings that must be in it, and strings that must not.

The 172 pages are in the markup of systems of the years 1998 to 2025, written by someone who had not read the rules.
All texts are our own. A page is a line `@@@ name kind language`, lines `+ must`, lines `- must not`, and its markup.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from quern.jobs.documents.html.extract import extract_page

FOLDER = Path(__file__).parent / "unseen"
FLOORS = json.loads((Path(__file__).parents[3] / "floors.json").read_text("utf-8"))["unseen_pages"]


@pytest.mark.parametrize("file", ["first", "second", "third", "fourth", "fifth", "sixth"])
def test_the_text_of_unseen_pages_is_as_good_as_its_floor(file: str) -> None:
    read = wanted = taken = 0
    for part in (FOLDER / f"{file}.txt").read_text("utf-8").split("@@@ ")[1:]:
        lines = part.split("\n")[1:]
        marked = [line for line in lines if line[:2] in ("+ ", "- ")]
        html = "\n".join(lines[len(marked) :])
        text = re.sub(r"\s+", " ", extract_page(html.encode(), "https://seite.example/", None)["text"])
        read += sum(line[2:] in text for line in marked if line[0] == "+")
        taken += sum(line[2:] in text for line in marked if line[0] == "-")
        wanted += sum(line[0] == "+" for line in marked)
    assert read / wanted >= FLOORS[file]["recall"]
    assert read / (read + taken) >= FLOORS[file]["precision"]
