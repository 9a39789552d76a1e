"""Lines at the edges of a text that speak of the page: its title again, where it is filed, whose copyright it is."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from quern.jobs.documents.html.loose_text import is_sentence
from quern.jobs.documents.html.metadata import letters

# Lines at the head of a text among which its title may stand, and letters by which two titles are told to be one.
_HEAD_LINES: Final = 4
_ALIKE: Final = 20
# Lines at the end that may be about the page, and the length of such a line.
_END_LINES: Final = 4
_LONGEST: Final = 200
# A notice of rights, whatever sentences follow it, and a line by which blogs say when a post came.
_RIGHTS: Final = re.compile(
    r"[\W_]*(?:[©ⓒ]|(?:\(c\)|copyright)\W*(?:[©ⓒ]|\(c\)|(?:19|20)\d\d\b)|copyright\b.*\ball rights reserved"
    r"|(?:all rights reserved|alle rechte vorbehalten|tous droits réservés)\s*(?:$|[^\w\s])"
    r"|dieser (?:beitrag|eintrag|artikel) wurde (?:am|von|unter|in) .*\b(?:veröffentlicht|abgelegt|geschrieben)\b)",
    re.I,
)
# Words of filing, alone or with a mark behind them, and days: "Publicado en 1998, el libro ..." is the text's.
_FILED: Final = re.compile(
    r"[\W_]*(?:copyright\b.{0,60}\b(?:19|20)\d\d\b|(?:posted on|veröffentlicht am|publié le)\b.{0,30}\d"
    r"|(?:filed (?:under|in)|posted (?:in|on|by)|tags?|tagged(?: with| as)?|labels?|categor(?:y|ies)|topics|keywords"
    r"|schlag(?:wort|worte|wörter)|kategorien?|abgelegt unter|veröffentlicht (?:am|in|von|unter)|eingestellt von"
    r"|publié (?:le|dans|par)|mots[- ]clés|étiquettes|catégories?|classé dans"
    r"|tagi|kategorie|categorías?|etiquetas|publicado (?:en|por)|pubblicato (?:in|da)|categorie|метки|рубрик[аи]|теги"
    r"|标签|分类|タグ|カテゴリー?)\s*(?:[:：|]|$))",
    re.I,
)


def without_title(text: str, title: str | None, headings: Collection[str]) -> str:
    """`text` without a line at its head that says the page's title again, in full or as a main heading does.

    Args:
        text: Lines.
        title: The page's title.
        headings: The page's main headings, by their letters.
    """
    known = letters(title)
    lines = text.split("\n")
    for i, line in enumerate(lines[:_HEAD_LINES]):
        named = letters(line)
        told = named == known or (named in headings and _alike(named, known))
        if named and told and len(lines) > 1:
            return "\n".join(lines[:i] + lines[i + 1 :])
    return text


def _alike(heading: str, title: str) -> bool:
    """Whether a main heading says no more than the title: it is within it, or they begin alike."""
    return not title or heading in title or heading[:_ALIKE] == title[:_ALIKE]


def without_filing(text: str) -> str:
    """`text` without lines at its end that say where the page is filed or whose copyright it is."""
    lines = text.split("\n")
    first = max(1, len(lines) - _END_LINES)
    return "\n".join(line for i, line in enumerate(lines) if i < first or not _is_about_page(line))


def _is_about_page(line: str) -> bool:
    if len(line) > _LONGEST:
        return False
    return _RIGHTS.match(line) is not None or (_FILED.match(line) is not None and not is_sentence(line))
