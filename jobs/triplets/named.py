"""The name in a part of a statement, in the fullest form that its chunk gives; none where it is no name."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from quern.jobs.text.names import names
from quern.jobs.triplets.statement import Passage
from quern.schemas.words.calendar import MONTH_START, WEEKDAY
from quern.schemas.words.scripts import HAN

_ARTICLE: Final = re.compile(r"^(?:[Tt]he|[Aa]n?)\s+")
_DATE: Final = re.compile(rf"{MONTH_START}[a-z]*\b[\s\d,]*$|{WEEKDAY}")
_CHINESE: Final = re.compile(f"《[^》]+》|[{HAN}·A-Za-z0-9]{{2,12}}")
_TITLE: Final = re.compile(r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Captain|Councillor)\.? )?\S+")


@dataclass(frozen=True)
class NamesOf:
    """The names of one chunk."""

    passage: Passage

    def name(self, part: str, *, heads: bool) -> str | None:
        """The name that `part` is, without its article; a family name alone as the whole name, where there is one.

        A Chinese name is one that heads a sentence, and that the title or another place of the chunk has too.

        Args:
            part: Subject or object of a statement.
            heads: It begins its sentence, where every word has a capital.
        """
        text, title = self.passage.text, self.passage.title
        if re.search(f"[{HAN}]", part):
            known = part.startswith("《") or "·" in part or part in title or text.count(part) > 1
            return part.strip("《》") if heads and known and _CHINESE.fullmatch(part) else None
        plain = _ARTICLE.sub("", part)
        found = names(f"the {plain}")
        if len(plain) > 80 or not found or found[0].text != plain or _DATE.match(plain):
            return None
        if heads and plain.isalpha() and plain[1:].islower() and plain not in title.split():
            inside = rf"(?<=[\w,;’'-] ){re.escape(plain)}\b|{re.escape(plain)}: "
            if re.search(inside, text) is None:
                return None
        return self._whole.get(plain.rsplit(" ", 1)[-1], plain) if _TITLE.fullmatch(plain) else plain

    @cached_property
    def _whole(self) -> dict[str, str]:
        """Last word to whole name of the names of the chunk, where only one ends in it."""
        whole: defaultdict[str, set[str]] = defaultdict(set)
        for text in (self.passage.title, *(span.of(self.passage.text) for span in self.passage.sentences)):
            for name in names(text):
                if " " in name.text and not re.fullmatch(_TITLE, name.text):
                    whole[name.text.rsplit(" ", 1)[1]].add(name.text)
        return {last: next(iter(found)) for last, found in whole.items() if len(found) == 1}
