"""Which sentences of a chunk tell its events, and on which day: the rule, which needs no model.

A sentence with a date of its own comes first, the more exact the better; then, in a dated document that is no
conversation, those near its beginning, where news tells what is new (Xinyu, section 3.6.2: the event's time, else the
report's; else it is dropped).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quern.jobs.events.dating import (
    OPENING,
    Carried,
    Dating,
    borrowed,
    exactness,
    is_background,
    news_day,
    own_dating,
    undatable,
)
from quern.jobs.events.passage import Passage, Sentence
from quern.jobs.events.telling import Telling, headline, is_title, is_unnamed, shortened, stands_for, telling
from quern.jobs.events.timex import period
from quern.jobs.queries.rules.units import person_name, word_count
from quern.jobs.text.dates import dates, order_of
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

    A single word at the head of the sentence is one where it has its capital elsewhere too: in the other sentences of
    the chunk, or in the title.
    """
    mentions: list[str] = []
    whole = whole_names((title, *others))
    for name in names(sentence):
        text, opens = name.text, re.fullmatch(r"\W*", sentence[: name.start])
        if opens and text.isalpha() and not text.isupper():
            inner = re.compile(rf"(?<=[\w,;’'-] ){re.escape(text)}\b")
            if not any(map(inner.search, (sentence, title, *others))):
                continue
        if re.search(r"[’'](?:ll|ve|re|m|d|t)\b", text, re.I) is None:
            mentions.append(whole.get(text, text))
    mentions += _CAMEL.findall(sentence)
    if who := speaker(sentence):
        mentions.insert(0, person_name(who))
    if not sentence.isascii():
        mentions += _chinese(sentence, title, "\n".join(others))
    return [name for name in dict.fromkeys(mentions) if len(name) > 1][:12]


@lru_cache(maxsize=4096)
def whole_names(texts: tuple[str, ...], leaves_out: re.Pattern[str] | None = None) -> dict[str, str]:
    """Last word to whole name of the names in title and sentences, where only one ends in it."""
    whole: defaultdict[str, set[str]] = defaultdict(set)
    for name in (name.text for text in texts for name in names(text)):
        if " " in name and not (leaves_out and leaves_out.fullmatch(name)):
            whole[name.rsplit(" ", 1)[1]].add(name)
    return {last: next(iter(candidates)) for last, candidates in whole.items() if len(candidates) == 1}


def _chinese(sentence: str, title: str, around: str) -> list[str]:
    """Works, persons, places, and the longest runs of three to six characters shared with title and surroundings."""
    mentions = [(m.start(), m[1]) for m in _WORK.finditer(sentence)]
    mentions += [(m.start(1), m[1]) for m in _PLACE.finditer(sentence) if _FUNCTION.search(m[1]) is None]
    mentions += [(n.start, n.text) for n in chinese_names(sentence)]
    for run in re.findall(f"[{HAN}]{{3,}}", title):
        at = 0
        while at < len(run) - 2:
            parts = (run[at : at + n] for n in range(min(6, len(run) - at), 2, -1))
            shared = next((part for part in parts if part in sentence and part in around), "")
            if shared and _FUNCTION.search(shared) is None:
                mentions.append((sentence.find(shared), shared))
            at += len(shared) or 1
    return [name for _, name in sorted(mentions)]


_FEW_WORDS: Final = 8  # A shorter turn of a conversation is small talk, a shorter line without an end no sentence.
_ROW: Final = re.compile(r"\|.*\||\t")
_ENDS: Final = re.compile(r"[.!?…。！？][\"'”’»」』）)\]]*$")
_CAPITAL: Final = re.compile(r"(?<=[\w,;:] )[A-Z][a-z]+|《")


@dataclass(frozen=True)
class Report:
    """An event as a sentence tells it."""

    sentence: Sentence  # The sentence.
    dating: Dating  # When.
    title: str  # What happened, in a few words.
    entities: tuple[str, ...]  # Names of those that it is about.


@dataclass(frozen=True)
class Reports:
    """The events of a chunk in reading order, and how many more have no date."""

    reports: tuple[Report, ...]
    undated: int


def read_reports(passage: Passage, most: int, title_words: int) -> Reports:
    """At most `most` events of a chunk: those that are worth most, in reading order."""
    sentences = passage.sentences
    talk = any(s.who for s in sentences)
    order = order_of(passage.text)
    rated: list[tuple[float, Sentence, Dating]] = []
    undated, carried, place = 0, Carried(), -1
    news: Dating | None = None
    for sentence in sentences:
        tells = _tells(sentence, passage.title, talk=talk)
        is_heading = is_title(sentence.text, passage.title)
        place += not is_heading and len(sentence.text) > 20  # A date line is no sentence of the lead.
        times = dates(sentence.said, passage.published, order) if tells else []
        own = own_dating(sentence.said, times, passage.published)
        if own and not talk and passage.first and is_background(own, passage.published, place):
            own = None
        carried = Carried(sentence.line, own) if own else carried
        news = news or (news_day(own, passage.published) if own and place <= OPENING and passage.first else None)
        if tells is None:
            continue
        # Of a hundred undated turns of LiHua-World that tell of the past, few tell what happened that day.
        unsure = own is None and any(undatable(sentence.said, when) for when in times)
        dating = own or (None if talk or unsure else borrowed(sentence, tells, passage, carried, news))
        if dating is None:
            undated += not talk and tells in ("past", "present")
            continue
        lead = max(0, place) if passage.first and not talk else None
        rated.append((_worth(sentence, tells, own, lead), sentence, dating))
    best = sorted(rated, key=lambda r: (-r[0], r[1].number))[:most]
    # What does not say who or what leaves no room: what is worth less than that is no event for it.
    candidates = [r for r in best if talk or not is_unnamed(r[1].text, passage.title)]
    chosen = sorted(candidates, key=lambda r: r[1].number)
    lead = next((s.number for s in sentences if not is_title(s.text, passage.title)), 0) if passage.first else 0
    return Reports(
        tuple(report(passage, s, dating, "", (), title_words, lead=s.number == lead) for _, s, dating in chosen),
        undated,
    )


def report(
    passage: Passage,
    sentence: Sentence,
    dating: Dating,
    title: str,
    named: Sequence[str],
    title_words: int,
    *,
    lead: bool = False,
) -> Report:
    """The event that a sentence tells.

    Without a `title` it has the document's, where the sentence leads the document and repeats it, else the sentence's
    main clause in at most `title_words` words; without `named`, the names of the sentence.
    """
    if not title and lead and stands_for(passage.title, sentence.text, title_words):
        title = " ".join(passage.title.split())
    if not title:
        clause = shortened(sentence.said, title_words - (len(sentence.who.split()) if sentence.who else 0))
        title = f"{sentence.who}: {clause}" if sentence.who else clause
    if not named:
        others = tuple(s.text for s in passage.sentences if s.number != sentence.number)
        named = entities(sentence.said, others, passage.title)
        if sentence.who:
            named = list(dict.fromkeys([sentence.who, *named]))
    return Report(sentence, dating, title, tuple(named))


def _tells(sentence: Sentence, title: str, *, talk: bool) -> Telling | None:
    """What a sentence tells; None for a row of a table, and for a line without an end that is no title and no date.

    Of a conversation: what a turn tells; small talk is short.
    """
    text = sentence.said
    if talk:
        tells = telling(text) if word_count(text) >= _FEW_WORDS else None
        return None if tells == "state" else tells
    if _ROW.search(text):
        return None
    if is_title(text, title):
        return telling(text + "。") or ("present" if headline(text) else None)
    tells = telling(text)
    if tells and not sentence.who and not _ENDS.search(text) and word_count(text) < _FEW_WORDS:
        return None
    return tells


def _worth(sentence: Sentence, tells: Telling, own: Dating | None, place: int | None) -> float:
    """What a sentence is worth as the report of an event: by its verb, its date, its place in the lead and its names.

    The weights were tuned by recall of gold sentences on `airbus` and checked on `apple` (SemEval-2015 task 4); each of
    them is worth one or two sentences of a hundred.
    """
    worth = {"past": 1.0, "present": 1.0, "plan": 0.5, "state": 0.2}[tells]
    if own and (days := period(own.timex)):
        worth += 1.5 - 0.15 * exactness(days)
    if place is not None:
        worth += max(0.0, 2.0 - 0.4 * place)
    return worth + 0.8 * min(2, len(_CAPITAL.findall(sentence.text, 1)))
