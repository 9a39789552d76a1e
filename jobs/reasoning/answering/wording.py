"""Words that say the same: forms of one word, and the commonest ways to say that something begins, ends, costs, ...

A question says `employees` where the page says `employs`, `start` where it says `opened`. Groups of general English,
written by hand, not before the questions of the sample corpus were looked at: what they are worth there says nothing of
other corpora. A thesaurus of a language model is not at hand by rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from quern.jobs.text.stems import content_words
from quern.schemas.words.persons import is_person

_GROUPS: Final = (
    "start begin open launch found establish commence inaugurate initiate",
    "end finish complete close stop cease conclude",
    "name call title",
    "cost price pay spend charge fee worth",
    "buy purchase acquire acquisition",
    "sell sale sold",
    "build construct erect construction building",
    "big large size",
    "job employ employment staff worker workforce post",
    "people person resident inhabitant population visitor",
    "find discover discovery found",
    "say tell state announce report declare",
    "think believe opinion view",
    "cause reason because due",
    "damage harm hurt injure injury wound",
    "repair mend fix restore restoration",
    "die death dead kill",
    "born birth",
    "win won victory winner",
    "lead head director chief chair manage",
    "show display",
    "move relocate transfer",
    "give hand donate present",
    "get receive obtain",
    "need require",
    "allow permit permission licence license",
    "forbid ban prohibit",
    "rise increase grow growth raise",
    "fall decrease drop decline shrink",
    "carry transport hold capacity take",
    "make manufacture produce maker manufacturer producer",
    "write wrote author written",
    "visit visitor attend attendance come came crowd go went",
    "ship vessel boat",
    "fire blaze burn",
    "live home house",
    "long length",
    "tall high height",
    "wide width",
    "deep depth",
    "old age",
    "heavy weight weigh",
    "far distance",
    "fast speed",
    "happen occur place",
    "return back reopen",
    "plan intend propose proposal",
    "agree agreement sign contract",
    "suggest recommend advise advice recommendation",
    "like love enjoy favourite favorite",
    "want wish",
    "help assist",
    "meet meeting",
    "replace substitute",
    "share percentage percent part",
    "fine penalty",
    "lose loss lost",
    "choose pick select",
    "film movie",
    "shop store",
    "doctor physician",
    "car vehicle van lorry truck",
    "bicycle bike cycle",
    "prosecute prosecution charge court trial sue",
    "oblige require compel obligatory mandatory compulsory",
    "rule regulation law",
    "child kid",
    "study research trial",
    "fog foggy",
    "mist misty",
    "sun sunny",
    "rain rainy",
    "wind windy",
    "snow snowy",
    "storm stormy",
    "ice icy",
    "mud muddy",
    "dust dusty",
)


# Irregular forms of the commonest verbs, which no stemmer joins.
_IRREGULAR: Final = (
    "build built|buy bought|bring brought|catch caught|choose chose chosen|come came|cut cut|do did done|"
    "draw drew drawn|"
    "drive drove driven|eat ate eaten|fall fell fallen|feel felt|fight fought|find found|fly flew flown|forget forgot|"
    "freeze froze frozen|get got|give gave given|go went gone|grow grew grown|hear heard|hide hid hidden|hold held|"
    "keep kept|know knew known|lead led|leave left|lend lent|lose lost|make made|mean meant|meet met|pay paid|"
    "ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|sell sold|send sent|"
    "shake shook|show shown|sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|"
    "stand stood|"
    "steal stole|strike struck|swim swam|take took taken|teach taught|tear tore torn|tell told|think thought|"
    "throw threw thrown|"
    "understand understood|wake woke|wear wore worn|win won|write wrote written|begin began begun|break broke broken"
)


@lru_cache(maxsize=1)
def irregular_pasts() -> frozenset[str]:
    """The past forms of the commonest irregular verbs, those that are present forms too left out."""
    return frozenset(form for line in _IRREGULAR.split("|") for form in line.split()[1:] if form != line.split()[0])


@lru_cache(maxsize=1)
def _alike() -> Mapping[str, frozenset[str]]:
    """The other words of the groups of each word, as stems."""
    found: dict[str, frozenset[str]] = {}
    for line in (*_GROUPS, *_IRREGULAR.split("|")):
        stems = frozenset().union(*(content_words(w) for w in line.split()))
        for stem in stems:
            found[stem] = found.get(stem, frozenset()) | (stems - {stem})
    return found


_LEAST_PREFIX: Final = 5  # Stems of one word begin with as many letters alike: `employe` and `employ`.
_MOST_ENDING: Final = 3  # And differ in no more letters than an ending has.
_PAIR: Final = 2  # Characters of a Chinese word as it is searched.
# Pairs of the evidence that a character may stand in to tell anything. Of 300 questions of cmrc2018, 222 answers had
# the gold words without it, and 224, 227 and 229 with 4, 8 and 16; token F1 was best with 8.
_MOST_PAIRS: Final = 8


def said_by_others(question: frozenset[str], known: Iterable[str]) -> dict[str, str]:
    """Of the stems `known` those that say a stem of the question in another way, with the stem that they say."""
    heads: dict[str, list[str]] = {}
    for word in sorted(question):
        heads.setdefault(word[:_LEAST_PREFIX], []).append(word)
    other = {v: w for w in sorted(question) for v in _alike().get(w, ()) if v not in question}
    known, done = list(known), _doing(question)
    found = _by_character(question, known)
    for word in known:
        if word in question:
            continue
        if word in other:
            found[word] = other[word]
            continue
        if word in done:
            found[word] = done[word]
            continue
        for mine in heads.get(word[:_LEAST_PREFIX], ()):
            same = _common(word, mine)
            if same >= _LEAST_PREFIX and max(len(word), len(mine)) - same <= _MOST_ENDING and word.isascii():
                found[word] = mine
    return found


def stems_said(question: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """The stems of the question that a text of these `words` says, as they are or in another way."""
    return question & words | frozenset(said_by_others(question, sorted(words)).values())


_AGENT: Final = 4  # Letters of the shortest noun of who does something that is known by its form.


def _doing(question: frozenset[str]) -> dict[str, str]:
    """The words for who does what a stem of the question says, and for what its doer does: `bidder` and `bid`."""
    found: dict[str, str] = {}
    for mine in sorted(question):
        twice = mine + mine[-1:]
        for doer in (f"{mine}er", f"{mine}or", f"{twice}er", f"{twice}or", f"{mine}r"):
            if len(doer) >= _AGENT and doer.endswith(("er", "or")) and is_person(doer):
                found.setdefault(doer, mine)
        if is_person(mine) and mine.endswith("r"):
            bare = mine[:-2] if mine.endswith("er") else ""
            single = bare[:-1] if bare[-1:] == bare[-2:-1] else ""
            for does in filter(None, (bare, single, mine[:-1])):
                found.setdefault(does, mine)
    return found


def _by_character(question: frozenset[str], known: Iterable[str]) -> dict[str, str]:
    """Pairs of Chinese characters that share one with a pair of the question which no text has: `大火` and `火灾`."""
    pairs = {w for w in known if len(w) == _PAIR and not w.isascii()}
    having: dict[str, list[str]] = {}
    for pair in sorted(pairs):
        for character in dict.fromkeys(pair):
            having.setdefault(character, []).append(pair)
    found: dict[str, str] = {}
    for word in sorted(w for w in question - pairs if len(w) == _PAIR and not w.isascii()):
        for character in word:
            alike = having.get(character, [])
            if len(alike) <= _MOST_PAIRS:
                found.update({other: word for other in alike if other not in question and other not in found})
    return found


def _common(one: str, other: str) -> int:
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return n
    return min(len(one), len(other))
