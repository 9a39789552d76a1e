"""The name in a part of a statement, in the fullest form that its chunk gives; none where it is no name."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from quern.jobs.text.names import names
from quern.jobs.triplets.statement import Passage
from quern.schemas.words.calendar import MONTH, MONTH_START, WEEKDAY
from quern.schemas.words.scripts import HAN

_ARTICLE: Final = re.compile(r"^(?:[Tt]he|[Aa]n?)\s+")
_DATE: Final = re.compile(
    rf"{MONTH_START}[a-z]*\b[\s\d,]*$|{WEEKDAY}|"
    rf"(?!May){MONTH}\b"  # May is a name too.
)
_INNER: Final = re.compile(r"(?<=[\w,;’'-] )[A-Z][\w’'-]+")
_HAN_NAME: Final = re.compile(f"《[^》]+》|[{HAN}A-Za-z0-9·]{{2,12}}")
_HAN: Final = re.compile(f"[{HAN}]")
_LONGEST: Final = 80


@dataclass(frozen=True)
class NamesOf:
    """The names of one chunk."""

    passage: Passage

    def name(self, part: str, *, heads: bool) -> str | None:
        """The name that `part` is, without its article; a family name alone as the whole name, where there is one.

        Args:
            part: Subject or object of a statement.
            heads: It begins its sentence, where every word has a capital.
        """
        if _HAN.search(part):
            return self._chinese(part) if heads else None
        plain = _ARTICLE.sub("", part)
        found = names(f"the {plain}")
        if len(plain) > _LONGEST or not found or found[0].text != plain or _DATE.match(plain):
            return None
        if " " not in plain and plain.isalpha() and plain[1:].islower() and not self._inside(plain, heads):
            return None
        return self._whole.get(plain.rsplit(" ", 1)[-1], plain) if self._short(plain) else plain

    def _inside(self, word: str, heads: bool) -> bool:
        """Whether one word has its capital where no sentence begins, or labels who speaks."""
        text = self.passage.text
        return not heads or word in self._capitals or f"{word}: " in text or word in self.passage.title.split()

    @staticmethod
    def _short(name: str) -> bool:
        """Whether a name is a family name, alone or behind a title."""
        return (
            " " not in name
            or re.match(r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Captain|Councillor)\.? \S+$", name) is not None
        )

    @cached_property
    def _capitals(self) -> frozenset[str]:
        return frozenset(_INNER.findall(self.passage.text))

    @cached_property
    def _whole(self) -> dict[str, str]:
        """Family name to whole name of the persons of the chunk, where only one has it."""
        whole: defaultdict[str, set[str]] = defaultdict(set)
        for text in (self.passage.title, *(span.of(self.passage.text) for span in self.passage.sentences)):
            for name in names(text):
                if name.role == "person" and len(name.text.split()) in (2, 3):
                    whole[name.text.rsplit(" ", 1)[1]].add(name.text)
        return {
            last: next(iter(found))
            for last, found in whole.items()
            if len(found) == 1 and not self._short(next(iter(found)))
        }

    def _chinese(self, part: str) -> str | None:
        """A Chinese subject that the title has, that stands in marks of a title, or more than once in the chunk."""
        if _HAN_NAME.fullmatch(part) is None:
            return None
        known = part.startswith("《") or "·" in part or part in self.passage.title or self.passage.text.count(part) > 1
        return part.strip("《》") if known else None
