"""Names of those that a sentence is about: persons, organisations, places, works; in full where the chunk has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from quern.jobs.queries.rules.units import person_name
from quern.jobs.text.names import chinese_names, names, speaker
from quern.schemas.words.calendar import MONTH_START
from quern.schemas.words.scripts import HAN

_WORK: Final = re.compile(r"《([^》]{1,30})》")
_RUN: Final = re.compile(f"[{HAN}]{{2,}}")
# Endings of Chinese names of organisations and places; what stands before is bounded by marks and function words.
_ORGANISATION: Final = re.compile(
    f"(?:(?<=[，。、；：“”（）在由与和对为向从到至于以及])|^)([{HAN}]{{2,10}}?(?:公司|集团|大学|学院|中学|小学|医院|银行|法院|博物馆|图书馆|研究院|研究所|"
    "委员会|管理局|文旅局|渡口|码头|大桥|车站|机场|剧院|剧团|戏台|寺|厂))"
)
_FUNCTION: Final = re.compile(
    "[的了在是和与及对从到由被把将于以为上下中里后前时日月年个第这那其该有无不也都就并而或等]"
)
# A number that ends a name stands before a mark or a function word, one that counts stands before a noun.
_FUNCTION_WORD: Final = (
    r"(?:is|are|was|were|has|have|had|will|would|can|could|may|and|or|in|on|at|by|to|for|from|with|which|that|who|as|"
    r"after|before|during|did)\b"
)
_NUMBERED: Final = re.compile(rf" \d{{1,4}}[A-Z]?(?=[.,;:)’'\"]*$|[;:)’'\"]|[.,] |\s+{_FUNCTION_WORD})")
_CAMEL: Final = re.compile(r"(?<![\w.@/-])[a-z]{1,2}[A-Z]\w+(?:\s(?:[A-Z]\w*|\d\w{0,2}))*(?![\w@/])")
_CONTRACTION: Final = re.compile(r"[’'](?:ll|ve|re|m|d|t)\b", re.I)
_OPENS: Final = re.compile(r"[^\w]*")
_FEWEST: Final = 2
_MOST: Final = 12
_DATES: Final = re.compile(
    rf"^{MONTH_START}\b|^(?:Time|Date|Note|Entry|Section|Chapter|Table|Figure|"
    r"Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b|^(?:AM|PM|UTC|GMT|EST|CET)$"
)


def entities(sentence: str, others: Sequence[str], title: str) -> list[str]:
    """The names in `sentence`, each once, in order; a person's family name alone as the whole name that others have.

    Args:
        sentence: The sentence.
        others: The other sentences of the chunk.
        title: Title of the document; may be empty.
    """
    found = [name for name in _english(sentence, others, title) if _DATES.match(name) is None]
    whole = _whole_names(tuple(others), title)
    found = [whole.get(name, name) for name in found]
    if who := speaker(sentence):
        found.insert(0, person_name(who))
    if not sentence.isascii():
        found += _chinese(sentence, title, "\n".join(others))
    return [name for name in dict.fromkeys(found) if len(name) >= _FEWEST][:_MOST]


def _english(sentence: str, others: Sequence[str], title: str) -> Iterable[str]:
    """The names; a single word at the head of the sentence is one where it has its capital elsewhere too."""
    for name in names(sentence):
        if _CONTRACTION.search(name.text):
            continue
        if _OPENS.fullmatch(sentence, 0, name.start) and name.text.isalpha() and not name.text.isupper():
            inner = re.compile(rf"(?<=[\w,;'’-] ){re.escape(name.text)}\b")
            if not any(map(inner.search, (sentence, title, *others))):
                continue
        yield name.text + (number[0] if (number := _NUMBERED.match(sentence, name.end)) else "")
    yield from (m[0] for m in _CAMEL.finditer(sentence))


@lru_cache(maxsize=4096)
def _whole_names(others: tuple[str, ...], title: str) -> dict[str, str]:
    """Family name to whole name of the persons of a chunk, where only one has it."""
    whole: dict[str, set[str]] = {}
    for text in (title, *others):
        for name in names(text):
            if name.role == "person" and " " in name.text:
                whole.setdefault(name.text.rsplit(" ", 1)[1], set()).add(name.text)
    return {last: next(iter(found)) for last, found in whole.items() if len(found) == 1}


def _chinese(sentence: str, title: str, around: str) -> list[str]:
    found = [(m.start(), m[1]) for m in _WORK.finditer(sentence)]
    found += [(n.start, n.text) for n in chinese_names(sentence)]
    found += [(m.start(1), m[1]) for m in _ORGANISATION.finditer(sentence) if _FUNCTION.search(m[1]) is None]
    found += [(sentence.find(shared), shared) for shared in _shared(sentence, title, around)]
    return [name for _, name in sorted(found)]


def _shared(sentence: str, title: str, around: str) -> list[str]:
    """The longest runs of three to six Chinese characters that a sentence shares with title and surroundings."""
    kept: list[str] = []
    for run in _RUN.findall(title):
        at = 0
        while at < len(run) - 2:
            lengths = range(min(6, len(run) - at), 2, -1)
            length = next((n for n in lengths if run[at : at + n] in sentence and run[at : at + n] in around), 0)
            if length and _FUNCTION.search(run[at : at + length]) is None:
                kept.append(run[at : at + length])
            at += length or 1
    return kept
