"""Names of those that a sentence is about: persons, organisations, places, works; in full where the chunk has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from quern.jobs.queries.rules.units import person_name
from quern.jobs.text.names import chinese_names, names, speaker
from quern.schemas.words.scripts import HAN

_CAMEL: Final = re.compile(r"(?<![\w.@/-])[a-z]{1,2}[A-Z]\w+(?:\s(?:[A-Z]\w*|\d\w{0,2}))*(?![\w@/])")  # iPhone 4S
_WORK: Final = re.compile(r"《([^》]{1,30})》")
# Endings of Chinese names of organisations and places; what stands before is bounded by marks and function words.
_PLACE: Final = re.compile(
    f"(?:(?<=[，。、；：“”（）在由与和对为向从到至于以及])|^)([{HAN}]{{2,10}}?(?:公司|集团|大学|学院|[中小]学|医院|银行|法院|博物馆|图书馆"
    "|研究[院所]|委员会|管理局|渡口|码头|大桥|车站|机场|剧院|剧团|戏台|寺|厂))"
)
_FUNCTION: Final = re.compile(
    "[的了在是和与及对从到由被把将于以为上下中里后前时日月年个第这那其该有无不也都就并而或等]"
)


def entities(sentence: str, others: Sequence[str], title: str) -> list[str]:
    """The names in `sentence`, each once, in order; one that is the last word of a longer name as that.

    A single word at the head of the sentence is one where it has its capital elsewhere too.

    Args:
        sentence: The sentence.
        others: The other sentences of the chunk.
        title: Title of the document; may be empty.
    """
    found: list[str] = []
    whole = _whole_names(tuple(others), title)
    for name in names(sentence):
        text, opens = name.text, re.fullmatch(r"\W*", sentence[: name.start])
        if opens and text.isalpha() and not text.isupper():
            inner = re.compile(rf"(?<=[\w,;’'-] ){re.escape(text)}\b")
            if not any(map(inner.search, (sentence, title, *others))):
                continue
        if re.search(r"[’'](?:ll|ve|re|m|d|t)\b", text, re.I) is None:
            found.append(whole.get(text, text))
    found += _CAMEL.findall(sentence)
    if who := speaker(sentence):
        found.insert(0, person_name(who))
    if not sentence.isascii():
        found += _chinese(sentence, title, "\n".join(others))
    return [name for name in dict.fromkeys(found) if len(name) > 1][:12]


@lru_cache(maxsize=4096)
def _whole_names(others: tuple[str, ...], title: str) -> dict[str, str]:
    """Last word to whole name of the names of a chunk, where only one ends in it."""
    whole: dict[str, set[str]] = {}
    for text in (title, *others):
        for name in names(text):
            if " " in name.text:
                whole.setdefault(name.text.rsplit(" ", 1)[1], set()).add(name.text)
    return {last: next(iter(found)) for last, found in whole.items() if len(found) == 1}


def _chinese(sentence: str, title: str, around: str) -> list[str]:
    """Works, persons, places, and the longest runs of three to six characters shared with title and surroundings."""
    found = [(m.start(), m[1]) for m in _WORK.finditer(sentence)]
    found += [(m.start(1), m[1]) for m in _PLACE.finditer(sentence) if _FUNCTION.search(m[1]) is None]
    found += [(n.start, n.text) for n in chinese_names(sentence)]
    for run in re.findall(f"[{HAN}]{{3,}}", title):
        at = 0
        while at < len(run) - 2:
            parts = (run[at : at + n] for n in range(min(6, len(run) - at), 2, -1))
            shared = next((part for part in parts if part in sentence and part in around), "")
            if shared and _FUNCTION.search(shared) is None:
                found.append((sentence.find(shared), shared))
            at += len(shared) or 1
    return [name for _, name in sorted(found)]
