"""How much of something each of two has or does, asked by a verb and `more`: `Who had to pay the town more, A or B`.

The verb phrase before the word that compares is asked of each side, what stands behind that word says of what: `for
more days` asks for how many days, `more often` how often, `longer` how long.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from quern.jobs.reasoning.questions.pairs import QUANTITY
from quern.jobs.reasoning.questions.words import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    PREPOSITIONS,
    bare,
    base,
    is_past,
    is_verb,
)

_MORE: Final = frozenset("more fewer less".split())
_MOST: Final = frozenset("most fewest least".split())
_SPELL: Final = frozenset("period time spell stretch while".split())
_OFTEN: Final = frozenset("often frequently regularly".split())
_MANNER: Final = {
    comparative: plain
    for plain, comparatives in (
        ("long", "longer longest"),
        ("hard", "harder hardest"),
        ("fast", "faster fastest"),
        ("far", "further farther furthest farthest"),
    )
    for comparative in comparatives.split()
}
_BIG: Final = frozenset("bigger larger higher lower smaller greater heavier steeper stiffer".split())
_SMALL: Final = frozenset("lower smaller".split())
_ENDS: Final = PREPOSITIONS | frozenset("because when while than as if and or each every altogether overall".split())
_MANY: Final = frozenset("people children women men staff crew".split())
_MOST_NOUN: Final = 3  # Words of what is counted.
_MOST_BEFORE: Final = 10  # Words between the word of asking and the verb.


class Amount(NamedTuple):
    """What is asked of one side, `@` in its place, and the word that compares."""

    pattern: str
    word: str


def did(verb: str) -> tuple[str, str]:
    """The auxiliary and plain form of a finite verb."""
    word = verb.lower()
    if word in ("has", "have"):
        return ("does" if word == "has" else "do"), "have"
    if word == "had" or is_past(word):
        return "did", base(word)
    return ("does" if word.endswith("s") else "do"), base(word)


def amount_of(head: str) -> Amount | None:
    """What a question of choice asks of each side, where it compares how much or how long; None where it does not."""
    words = head.split()
    verb = _verb_at(words)
    at = next((n for n in range(verb + 1, len(words)) if verb and _compares(words, n, verb)), 0)
    if not at or (asked := _asked(words[verb:at])) is None:
        return None
    aux, phrase = asked
    word, behind = words[at].lower(), words[at + 1 :]
    if phrase and phrase[-1].lower() in ("the", "a", "an"):
        phrase = phrase[:-1]
        if word in _MANNER:  # `for a longer time`; `a longer tail` is no matter of time.
            if not behind or bare(behind[0]) not in _SPELL:
                return None
            behind = behind[3:] if [bare(w) for w in behind[1:3]] == ["of", "time"] else behind[1:]
    how, rest = _how(word, behind, phrase)
    if not how:
        return None
    of_time = bool(phrase) and phrase[-1].lower() == "for"
    phrase = phrase[:-1] if of_time else phrase
    compares = "more" if word in _BIG - _SMALL else "less" if word in _SMALL else word
    lead = "for " if of_time and how != "how long" else ""
    return Amount(f"{lead}{how} {aux} @ {' '.join(phrase)} {' '.join(rest)}", compares)


def kind_of_sides(head: str) -> str:
    """The noun of what a question offers, `ship` of `which old ship is longer`; empty where it says none."""
    words = head.split()
    verb = _verb_at(words)
    noun = words[verb - 1] if verb > 1 and bare(words[0]) == "which" else ""
    return noun if re.fullmatch(r"(?!one$)[a-z]{3,}", noun) and "of" not in words[:verb] else ""


def _verb_at(words: list[str]) -> int:
    """Place of the verb behind the word of asking and its noun; 0 where none is known."""
    return next((n for n in range(1, min(len(words), _MOST_BEFORE)) if _is_finite(words, n)), 0)


def _is_finite(words: list[str], n: int) -> bool:
    word = bare(words[n])
    if word in AUXILIARIES or word in ("used", "needs"):
        return True
    if n > 1 and bare(words[n - 1]) in DETERMINERS | PREPOSITIONS:
        return False
    return is_past(word) or (word.endswith("s") and is_verb(base(word)))


def _compares(words: list[str], n: int, verb: int) -> bool:
    word, before = bare(words[n]), bare(words[n - 1])
    if word in _MOST:  # `the five most populous` compares nothing.
        return before == "the" or n == verb + 1
    return word in _MORE or word in _MANNER or (word in _BIG and before == "the" and n + 1 < len(words))


def _asked(words: list[str]) -> tuple[str, list[str]] | None:
    """The auxiliary of the question and what stands behind its subject: `had to pay` is `did`, `have to pay`."""
    first, rest = bare(words[0]), words[1:]
    if first in ("had", "has", "have") and rest and is_past(bare(rest[0])):
        return first, rest
    if first == "used" and rest and bare(rest[0]) == "to":
        return "did", rest[1:]
    if first in BE or (first in AUXILIARIES and first not in ("had", "has", "have")):
        return first, rest
    aux, plain = did(first)
    return aux, [plain, *rest]


def _how(word: str, behind: list[str], phrase: list[str]) -> tuple[str, list[str]]:
    """The words that ask for the amount, and what is left behind them; empty words where none is asked for."""
    if word in _MANNER:
        return f"how {_MANNER[word]}", behind
    if word in _BIG:  # `the bigger fine`
        end = next((n for n, w in enumerate(behind) if bare(w) in _ENDS), len(behind))
        noun = " ".join(behind[:end])
        return (f"what {noun}" if QUANTITY.search(noun) else ""), behind[end:]
    if behind and bare(behind[0]) in _OFTEN:
        return "how often", behind[1:]
    if behind and bare(behind[0]).endswith("ly"):
        return f"how {bare(behind[0])}", behind[1:]
    end = next((n for n, w in enumerate(behind) if bare(w) in _ENDS), len(behind))
    several = next((n for n in range(min(end, _MOST_NOUN)) if _is_plural(bare(behind[n]))), None)
    if several is not None:
        return f"how many {' '.join(behind[: several + 1])}", behind[several + 1 :]
    if end and word in ("fewer", "fewest"):
        return f"how many {' '.join(behind[:end])}", behind[end:]
    if end > _MOST_NOUN or (not phrase and not end):
        return "", behind
    return f"how much {' '.join(behind[:end])}".strip(), behind[end:]


def _is_plural(word: str) -> bool:
    return word in _MANY or re.fullmatch(r"[a-z]{2,}[^s\W]s", word) is not None
