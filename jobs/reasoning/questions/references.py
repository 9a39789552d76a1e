"""What the pronouns of a later part of a question stand for: full names for sub-questions (GraTAG, decomposition)."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.words import (
    ADVERBS,
    AUXILIARIES,
    BE,
    CLOSED,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    bare,
    is_name,
    is_past,
    is_verb,
)
from quern.schemas.words.calendar import MONTHS, WEEKDAYS

_WH: Final = re.compile(
    r"(?:(?:at|in|on|by|for|from|to|under|with|of|since|until|through|about|after|before)\s+)?"
    r"(?:what|which|who|whom|whose|when|where|why|how)\b",
    re.IGNORECASE,
)
_THIRD: Final = re.compile(r"\b(he|she|him|her|his|hers|it|its|they|them|their|theirs)\b", re.IGNORECASE)
_POSSESSIVE: Final = frozenset("his its their theirs hers".split())
_PLURAL: Final = frozenset("they them their theirs".split())
_PERSONAL: Final = frozenset("he she him her his hers".split())
_TITLE: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Sir|Captain|Professor|President|King|Queen|Prince|Princess)\b")
# Subjects of these are no things: `it` in `how long did it take`, `it was raining`.
_EXPLETIVE: Final = re.compile(r"\bit\s+(?:take|took|takes|rain|snow|possible|likely|true|that)\b", re.IGNORECASE)
_MOST_OWNER: Final = 3  # Words that a possessive mark may follow; longer owners follow with `of`.
_MOST_WORDS: Final = 14  # Of a subject; a longer one is no name.


def subject(question: str) -> str:
    """The noun phrase that `question` is about: what stands behind its auxiliary, up to its verb; empty if unclear."""
    words = question.rstrip("?.!？ ").split()
    start = next((i for i, w in enumerate(words) if bare(w) in AUXILIARIES), None)
    if start is None or start > 8:
        return ""
    rest = words[start + 1 :]
    if rest and (is_past(bare(rest[0])) or bare(rest[0]) in PREPOSITIONS):
        return ""  # `Which company was fined`, `Which trawler is behind it`: the subject stands before.
    end = _length(rest, passive=bare(words[start]) in BE | {"has", "have", "had"})
    return " ".join(rest[:end]).strip(" ,;:") if 0 < end <= _MOST_WORDS else ""


def _length(words: list[str], passive: bool) -> int:
    """How many of the words make the noun phrase at their start; 0 where there is none."""
    noun = False
    for i, raw in enumerate(words):
        word = bare(raw)
        ended = i > 0 and words[i - 1][-1:] in ",;:"
        if ended:
            return i
        if is_name(raw) or word in DETERMINERS:
            if noun and word in DETERMINERS and bare(words[i - 1]) not in PREPOSITIONS:
                return i
            noun = noun or is_name(raw)
            continue
        if noun and (word in ADVERBS or word in AUXILIARIES):
            return i
        if noun and not _inside(words, i) and (is_past(word) if passive else is_verb(word)):
            return i
        if word in PREPOSITIONS:
            if passive and noun and word not in ("of", "on", "for", "in", "at"):
                return i
            continue
        if word in CLOSED and word not in ("and", "that", "which", "who"):
            return i if noun else 0
        noun = True
    return len(words) if noun and passive else 0


def _inside(words: list[str], i: int) -> bool:
    """Whether word `i` stands right behind a determiner or a preposition, where no finite verb is."""
    before = bare(words[i - 1])
    return before in DETERMINERS or before in PREPOSITIONS or words[i - 1].endswith(("'s", "’s"))


def identity(question: str) -> str:
    """The description that `question` asks to identify (`the founder of X` in `Who is the founder of X?`), or empty."""
    m = re.match(
        r"(?:who|what|which(?:\s+\w+)?)\s+(?:is|was|are|were)\s+((?:the|an?|[A-Z][\w’'-]*"
        r"(?:\s+[A-Z][\w-]*)*['’]s)\s+.+?)[?.\s]*$",
        question,
        re.IGNORECASE,
    )
    return re.sub(r"\s(?:called|named)(?=\s|$)", "", m[1]) if m else ""


def asked_for(question: str, pronoun: str) -> str:
    """What `question` asks for, where a later `pronoun` speaks of it: `the person who cut the ribbon`; else empty."""
    text = question.rstrip("?")
    who = re.match(r"who\s+(?:first\s+)?(?P<rest>\w+.*)$", text, re.IGNORECASE)
    personal = pronoun.lower() in _PERSONAL | _PLURAL
    described = identity(text)
    if described:
        return described if personal or not who else ""
    if who and personal and bare(who["rest"].split()[0]) not in AUXILIARIES:
        return f"the person who {who['rest']}"
    return ""


def wanted(question: str) -> str:
    """The noun phrase of a question with `which` or `what`: `the rule for the bridge in fog`; or empty."""
    m = re.match(
        rf"(?:which|what) (?P<np>.+?) (?:{'|'.join(AUXILIARIES)})\b", " ".join(question.split()), re.IGNORECASE
    )
    return f"the {m['np']}" if m else ""


def object_pronoun(part: str) -> str:
    """The first `it` or `them` behind the part's own subject, which speaks of what was asked before; or empty."""
    own = subject(part)
    rest = part[part.find(own) + len(own) :] if own and not has_pronoun(own) else ""
    m = re.search(r"(?:^|\s)(?P<before>[\w’'-]+)\s+(?P<it>it|them)\b", rest)
    return m["it"] if m and m["before"] not in CONJUNCTIONS | {"that", "where", "as", "before", "after"} else ""


def first_pronoun(part: str) -> str:
    """The first pronoun of the third person in `part`; or empty."""
    return next((m[1] for m in _THIRD.finditer(part) if not _EXPLETIVE.match(part, m.start())), "")


def named(part: str, earlier: str, stands_for: str | None = None) -> str:
    """`part` with the first pronoun of the third person replaced by what it means in the part `earlier`.

    Args:
        part: A later part of a question.
        earlier: The part before it.
        stands_for: What takes the pronoun's place, where that is known.
    """
    own = subject(part)
    own_end = part.find(own) + len(own) if own else len(part)
    for m in _THIRD.finditer(part):
        word = m[1].lower()
        # `Brannock sign its agreement` speaks of Brannock's; `the auditor conclude about his warning` does not.
        if word in _POSSESSIVE and word in _PERSONAL and proper_names(f"x {part[: m.start()]}"):
            continue  # `Jake shared his tips`: his own.
        if _EXPLETIVE.match(part, m.start()) or (
            not stands_for and word not in _PERSONAL and m.start() > own_end and part[own_end : m.start()].strip()
        ):
            continue
        meant = stands_for or _antecedent(word, earlier)
        # `its owner Corran Dredging`: a name beside the pronoun says enough, but not whose it is.
        if meant and meant.lower() not in part.lower():
            owned = re.match(r"\s+([a-z]+)\b", part[m.end() :]) if m[1].lower() in _POSSESSIVE | {"her"} else None
            if owned and len(meant.split()) > _MOST_OWNER:
                rest = re.sub(r"^\s+([A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*)*)", r", \1,", part[m.end() + owned.end() :])
                return f"{part[: m.start()]}the {owned[1]} of {meant}{rest}"
            return part[: m.start()] + _formed(m, meant, part) + part[m.end() :]
    return part


def has_pronoun(part: str) -> bool:
    """Whether `part` says `it`, `they`, `his` or the like of something outside itself."""
    return any(not _EXPLETIVE.match(part, m.start()) for m in _THIRD.finditer(part))


def _formed(m: re.Match[str], meant: str, part: str) -> str:
    """What takes the place of the pronoun, in the possessive where the pronoun is."""
    word = m[1].lower()
    possessive = word in _POSSESSIVE or (word == "her" and re.match(r"\s+[a-z]+", part[m.end() :]) is not None)
    if not possessive or meant.startswith("#"):
        return f"{meant}'s" if possessive else meant
    return f"{meant}'" if meant.endswith("s") else f"{meant}'s"


def _antecedent(pronoun: str, earlier: str) -> str:
    if re.search(r"\sor\s", earlier):
        return ""  # One of two things; which, the question leaves open.
    about = subject(earlier)
    names = proper_names(earlier)
    if pronoun in _PERSONAL:
        people = [n for n in names if _TITLE.search(n) or len(n.split()) in (2, 3)]
        candidates = [n for n in people if n in about] or people or names[:1]
        return candidates[0] if candidates else about
    if re.match(r"who\b", earlier, re.IGNORECASE) and pronoun not in _PLURAL:
        about = ""  # `Who was the architect of the library, and what shape is its staircase?`
    if about and not has_pronoun(about) and (pronoun not in _PLURAL or _plural(about)):
        return about
    described = described_name(earlier)
    return described or about


def _plural(phrase: str) -> bool:
    head = re.split(r"\s+(?:of|in|for|at|on|from|that|which|who)\s+", phrase)[0]
    return " and " in phrase or (head.endswith("s") and not head.endswith(("ss", "'s", "’s")))


_NAME: Final = re.compile(
    r"[A-Z][\w’'-]*\.?(?:\s+(?:(?:of|the|de|von|van|for|and)\s+(?=[A-Z]))?(?:the\s+(?=[A-Z]))?[A-Z0-9][\w’'-]*\.?)*"
)
_NEVER_NAMES: Final = frozenset([*MONTHS, *WEEKDAYS, "I"])


def proper_names(text: str) -> list[str]:
    """The names in `text`, without a question word, a month or a possessive mark, in order."""
    found = []
    for m in _NAME.finditer(text):
        name = re.sub(r"['’]s?$", "", m[0]).rstrip(".,")
        words = name.split()
        if m.start() == 0:
            words = words[1:] if len(words) > 1 and _opens(words[0]) else words if not _opens(words[0]) else []
        while words and (
            words[0] in _NEVER_NAMES or words[0].isdigit() or words[0].lower() in ("of", "the", "and", "for")
        ):
            words = words[1:]
        if words:
            found.append(" ".join(words))
    return found


def _opens(word: str) -> bool:
    """Whether a word in capitals only opens the sentence."""
    return (
        bare(word) in CLOSED or is_verb(bare(word)) or bare(word) in ("yes", "please", "name", "list", "find", "trace")
    )


def described_name(text: str) -> str:
    """The last name in `text` with the article and the nouns before it: `the dredger Marl Hopper 3`; or empty."""
    names = proper_names(text)
    if not names:
        return ""
    name = names[-1]
    m = re.search(rf"\b((?:the|an?)\s+(?:[a-z]+\s+){{0,2}}?){re.escape(name)}", text)
    words = m[1].split() if m else []
    return f"{m[1]}{name}" if m and not any(w in CLOSED - DETERMINERS for w in words) else name
