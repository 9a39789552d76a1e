"""The first clause of an English sentence as a question needs it: subject, auxiliary, verb and what follows.

Subjects and verbs are those that triplets are read by (`jobs.reasoning.clauses.clauses`); where that reader is unsure,
a clause with an auxiliary is still taken apart at it. A clause in which something is unclear gives nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from quern.jobs.queries.rules.pronouns import LEAD
from quern.jobs.reasoning.clauses.clauses import HeadedClause, headed_clauses
from quern.jobs.reasoning.clauses.pasts import DOUBTFUL, IRREGULAR
from quern.jobs.reasoning.clauses.words import ADVERBS, BE, HAVE, NEGATIVE, OWNERS, PREPOSITIONS, STOPS, third_person
from quern.jobs.reasoning.questions.words import base, is_past, is_verb
from quern.schemas.words.calendar import MONTH

_END: Final = re.compile(
    r"[;:\"“”«»]| [–—-]+ |, |\s\(|[.!?…]+[\"'”’)]*\s|[.!?…]+[\"'”’)]*$"
    r"| (?=(?:and|but|which|who|where|while|when|although|though|so|or|because|if|whose|that|than) )"
    r"| (?=as (?!an? |[A-Z]|well |part |knight|of |many |much |far ))"
    r"| (?=since (?!\d|[A-Z]))"
    r"| (?=and$)"
)
_QUOTE: Final = re.compile('["“”«»]')
# A time or an inference before the subject, with no comma behind it.
_TIME_LEAD: Final = re.compile(
    r"(?:On (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?: (?:mornings?|afternoons?|evenings?|nights?))?"
    r"|In (?:the )?(?:spring|summer|autumn|winter|mornings?|afternoons?|evenings?|\d{4})|At (?:night|noon|dawn|dusk)"
    rf"|(?:In|On)(?: \d{{1,2}})? {MONTH}"
    r"(?: \d{1,2})?(?: \d{4})?"
    r"|Thus|Hence|Therefore"
    r"|Every (?:\w+day|day|week|month|year|night|morning|evening|spring|summer|autumn|winter)) (?=\w)"
)
_EARLY: Final = 25  # Characters in which a quotation mark makes it unclear who says what.
_LIST: Final = re.compile(r" (?=(?:and|or) )")
_MODALS: Final = "will|would|can|could|should|may|might|must|shall"
_MODAL_VERBS: Final = frozenset(_MODALS.split("|"))
_AUXILIARY: Final = re.compile(
    rf"(?P<subject>\S+(?: \S+){{0,9}}?) (?P<aux>is|are|was|were|has|have|had|does|did|{_MODALS}) (?P<rest>\S.*)"
)
_PAST_VERB: Final = re.compile(
    r"(?P<subject>\S+(?: \S+){1,9}?) (?P<verb>[a-z]{3,}ed|"
    + "|".join(sorted(IRREGULAR - DOUBTFUL))
    + r") (?P<rest>\S.*)"
)
_PRESENT_VERB: Final = re.compile(r"(?P<subject>\S+(?: \S+){0,6}?) (?P<verb>[a-z]{3,}s) (?P<rest>\S.*)")
_LATER: Final = re.compile(r"[;:]|, (?:and|but) | – ")
_NO_SUBJECT: Final = re.compile(
    r",(?!\d)|[;:\"“”()|]|[a-z]{3}[.!?] |\b(?:who|which|that|when|where|if|because|then|what|how|why|there|here)\b"
    r"|^(?:While|Although|Though|Since|As|After|Before|And|But|So|Unlike|Like|In|On|At|By|For|From|With|Of|Under|"
    r"Between|To|Not|Let|Please|No|Soon|Earlier|Later|Today|Now|Then|Also|Only|Even|Just|Once|Within|Among"
    r"|Throughout)\b",
    re.IGNORECASE,
)
_STANDS_ALONE: Final = re.compile(
    r"(?:[Aa]bout|[Oo]ver|[Nn]early|[Aa]lmost|More than|At least|Some) (?=\d)|(?:[Tt]he|[Aa]n?|[Ii]ts|[Hh]is"
    r"|[Hh]er|[Tt]heir) |[A-Z0-9]"
)
_UNSAID: Final = frozenset("he she it they this these that those i we you one some many most all others both".split())
_DETERMINERS: Final = frozenset("the a an this that these those its his her their some most many all half".split())
_BEHIND_NAMES: Final = PREPOSITIONS | {"of", "the", "and", "or", "de", "van", "von"}
_PARTICIPLE: Final = re.compile(r"(?:(?:also|always|since|long|now|\w+ly) )*(?P<word>\S+)")
_GROUP: Final = re.compile(
    r"(?P<main>(?:(?:also|always|now|still|then|\w+ly) )*(?:be |been |being )?[a-z-]+)(?: |$)(?P<rest>.*)"
)


_OF_PLACES: Final = re.compile(r"(?:ish|ese|[aeilnr]an|French|Dutch|Greek|Swiss|Czech|Arab|Turk)$")
_NO_NOUNS: Final = (PREPOSITIONS | ADVERBS | STOPS | {"whatever", "whoever", "whichever", "there", "below"}) - {
    "both",
    "all",
    "each",
    "that",
    "over",
    "about",
    "near",
    "to",
    "what",
}
_WHEN: Final = re.compile(r"\b(?:later|ago|afterwards|thereafter|upon a time)\b", re.IGNORECASE)
_JOINED: Final = re.compile(r"(?:and|or)\b")
_LAST_PHRASE: Final = re.compile(r" (?:the|an?|his|her|its|their|our|my|your|more|very|most) (?P<word>[\w’'-]+)$")
_JOINED_ADJECTIVE: Final = re.compile(r"[a-z]{2}(?:al|ic|ive|ous|ary|ese|ish)$")
_TELLS: Final = frozenset("say find think believe know hope feel argue claim show mean announce report".split())
_LISTED_ADJECTIVES: Final = re.compile(r", (?:\d|[a-z]+,? (?:and|or) [a-z]|[a-z]+, )")
_RANKED: Final = re.compile(r"\b(?:\w*\d(?:st|nd|rd|th)|second|third) (?:most [\w-]+|[a-z]{3,}est)$")
_ADJECTIVE: Final = re.compile(
    r"(?:[a-z]{2}(?:ous|ful|able|ible|less|ive)|ern|[a-z]{3}(?:opic|etic|atic|itic|onic|amic|eric|ific)|[a-z](?:rst|cond|[hrfxn]th|ird)|advanced|soaring|long|new|old|major|large|small|young|great)$"
)
_SECOND_ADJECTIVE: Final = re.compile(
    r", (?!(?:and|but|or|who|which|where|when|while|with|in|on|at|by|for|from|to|of|as|the|an?|is|was|he|she|it|they"
    r"|we|i|you|his|her|its|their|so|then|not|including|like|such|because|since|after|before|that|there|if|one|all|some"
    r"|also|however|or|nor|yet)\b|\w+(?:ing|ed|ly)\b)[a-z][\w-]* [a-z]"
)


@dataclass(frozen=True)
class Clause:
    """A clause as a question turns it round.

    Attributes:
        lead: The phrase before the subject; may be empty.
        subject: The subject, as it stands within a sentence.
        finite: The verb as it stands, with its auxiliary.
        aux: What a question begins with: the auxiliary, or a form of `do`.
        main: The verb behind the subject in a question; empty where the auxiliary is all there is.
        rest: What follows the verb, up to where the clause ends.
        more: What follows in the sentence.
    """

    lead: str
    subject: str
    finite: str
    aux: str
    main: str
    rest: str
    more: str = ""

    @property
    def is_be(self) -> bool:
        """Whether the clause says what something is."""
        return self.aux in BE and not self.main

    @property
    def turned(self) -> str:
        """Auxiliary, subject and verb in the order of a question."""
        return " ".join(filter(None, (self.aux, self.subject, self.main)))


def clause_of(sentence: str) -> Clause | None:
    """The first clause of a sentence; None where it is unclear, or its subject stands for something said before."""
    if (
        "|" in sentence
        or "`" in sentence
        or _QUOTE.search(sentence[:_EARLY])
        or re.search(r"[?!] ", sentence)
        or sentence.rstrip().endswith(("?", "？", ":"))
    ):
        return None
    first = next(iter(headed_clauses(sentence)), None)
    if first is not None and not _LATER.search(sentence[: first.subject.start]):
        return None if first.pronoun else _sound(_read(sentence, first))
    return _sound(_taken_apart(sentence))


def _sound(clause: Clause | None) -> Clause | None:
    """The clause, where its subject is none of a phrase of time or place, and its end no word before a noun."""
    if clause is None or not clause.subject:
        return None
    words = clause.subject.lower().split()
    if words[0] in _NO_NOUNS or words[-1] in PREPOSITIONS or _WHEN.search(clause.subject):
        return None
    if words[0].endswith("ly") and len(words) > 1 and clause.subject[:1].isupper() and not words[0].endswith("ily"):
        return None
    if words[0].endswith("ing") and len(words) > 5:
        return None  # A phrase that says how, up to a subject behind it.
    if (
        re.fullmatch(r"\d{4}", words[0])
        or words[0] in OWNERS
        or {"each", "every"} & set(words[2:])
        or clause.lead.lower() in PREPOSITIONS
    ):
        return None
    if words[0] in BE or words[0] in HAVE or words[0] in _MODAL_VERBS | {"do", "does", "did"}:
        return None
    doing = clause.aux in ("did", "does", "do")
    if doing and clause.main.rpartition(" ")[2] not in _TELLS and not BE.isdisjoint(clause.rest.split()):
        return None  # The verb of the sentence comes later: `scenes set north of the wall were filmed`.
    if doing and _JOINED.match(clause.rest):
        return None  # `danced and sang`: what is joined stays in the past.
    return clause


def left_open(clause: Clause) -> bool:
    """Whether the clause is cut before the noun of its last phrase: `called for a soaring, original anthem`."""
    if _RANKED.search(clause.rest):
        return True
    last = _LAST_PHRASE.search(f" {clause.rest}")
    if last is None:
        return False
    if _ADJECTIVE.search(last["word"]) or clause.more.startswith(("-", "–", "—", '"', "“")):
        return True
    if clause.more.startswith(("and ", "or ")) and _JOINED_ADJECTIVE.search(clause.rest):
        return True
    if _LISTED_ADJECTIVES.match(clause.more) and _JOINED_ADJECTIVE.search(clause.rest):
        return True
    return _SECOND_ADJECTIVE.match(clause.more) is not None


def uncapitalised(text: str, aux: str = "") -> str:
    """The text with a small letter in a determiner or a common noun that begins it."""
    first, _, rest = text.partition(" ")
    if re.search("['’]", first):  # `Howard's buildings` are somebody's.
        return text
    if _OF_PLACES.search(first):
        return text  # `British loans`.
    if rest.split(" ", 1)[0].endswith("ly"):
        return text  # `Seattle typically`.
    plural = first.endswith("s") and not first.endswith(("is", "us", "as", "os", "ss", "ns", "’s", "'s"))
    common = rest[:1].islower() and first[1:].islower() and (plural or rest.split()[0] not in _BEHIND_NAMES)
    several = first.endswith("s") and not first.endswith(("is", "us", "ss", "'s"))
    many = several and not rest and first[1:].islower() and aux in ("are", "were", "have", "do")
    if first.lower() in _DETERMINERS or common or many or (first.endswith("ing") and rest[:1].islower()):
        return text[:1].lower() + text[1:]
    return text


def _read(sentence: str, headed: HeadedClause) -> Clause | None:
    subject = headed.subject.of(sentence)
    group = headed.group.of(sentence)
    words = group.split()
    if any(word.lower() in NEGATIVE for word in words) or "n't" in group or "n’t" in group:
        return None
    behind = sentence[headed.group.end :]
    if sentence[headed.subject.end : headed.group.start].strip("\u2019' ") or sentence[headed.subject.end] in "'’":
        return None
    if behind[:1] not in (" ", ".", ",", ";", ""):
        return None
    rest, more = _ended(behind.rstrip())
    verb = _verb(words)
    first, _, following = rest.partition(" ")
    if words[-1].lower() in HAVE and (is_past(first) or first in ("had", "not", "been")):
        verb, group, rest = (words[-1].lower(), first), f"{group} {first}", following
        if first in ("not", "been"):
            return None
    if verb is None:
        return None
    lead = sentence[: headed.subject.start].strip()
    return Clause(lead, uncapitalised(subject, verb[0]), group, verb[0], verb[1], rest, more)


def _verb(words: list[str]) -> tuple[str, str] | None:
    """Auxiliary and verb of a question by the words of a finite group."""
    at = next((n for n, word in enumerate(words) if not word.endswith("ly") and word not in _ADVERBS), None)
    if at is None:
        return None
    adverbs, first, more = words[:at], words[at].lower(), words[at + 1 :]
    if first.startswith(("'", "’")):
        return None
    if first in BE or first in _MODAL_VERBS or (first in HAVE and more):
        return first, " ".join([*adverbs, *more])
    if more:
        return None
    if first in ("has", "have", "had"):
        return {"has": "does", "have": "do", "had": "did"}[first], " ".join([*adverbs, "have"])
    if is_past(first):
        return "did", " ".join([*adverbs, base(first)])
    if third_person(first):
        return "does", " ".join([*adverbs, base(first)])
    return None


_ADVERBS: Final = frozenset("also always now still then once first just soon later never both often".split())


def _taken_apart(sentence: str) -> Clause | None:
    """A clause by its first auxiliary or past tense, where nothing else in it could be its verb."""
    lead = LEAD.match(sentence) or _TIME_LEAD.match(sentence)
    at = lead.end() if lead else 0
    found = _AUXILIARY.match(sentence, at)
    if found is None or not _is_subject(found["subject"]):
        return _by_past(sentence, at)
    subject, aux, main = found["subject"], found["aux"], ""
    rest, more = _ended(found["rest"])
    if re.match(r"(?:not|never|n't|no longer)\b", rest):
        return None
    if aux not in BE or _is_verb_behind_be(rest):
        group = _GROUP.match(rest)
        if group is None or (aux in HAVE and not is_past(group["main"].split()[-1])):
            return None
        main, rest = group["main"], group["rest"]
    finite = f"{aux} {main}".strip()
    return Clause(sentence[:at].strip(), uncapitalised(subject, aux), finite, aux, main, rest, more)


def _is_subject(words: str) -> bool:
    own = words.lower().split()
    if _NO_SUBJECT.search(words) or not _STANDS_ALONE.match(words):
        return False
    if own[0] in _UNSAID or own[-1] in _UNSAID or words.split()[-1] in PREPOSITIONS | {"not", "and", "or", "of"}:
        return False
    return not any(word in IRREGULAR or word in BE or word in ("gets", "becomes", "seems") for word in own[1:])


def _by_past(sentence: str, at: int) -> Clause | None:
    found = _PAST_VERB.match(sentence, at)
    if found is None or not _is_subject(found["subject"]) or not is_past(found["verb"]):
        return _by_present(sentence, at)
    rest, more = _ended(found["rest"])
    if any(is_past(word) or word in BE or word in HAVE or word in _MODAL_VERBS for word in rest.split()):
        return None  # What looked like the verb may be a participle: `the lens made in the town was sold`.
    verb = _verb([found["verb"]])
    return (
        Clause(sentence[:at].strip(), uncapitalised(found["subject"]), found["verb"], *verb, rest, more)
        if verb
        else None
    )


def _by_present(sentence: str, at: int) -> Clause | None:
    found = _PRESENT_VERB.match(sentence, at)
    if found is None or not _is_subject(found["subject"]) or not is_verb(base(found["verb"])):
        return None
    last = found["subject"].split()[-1]
    if last.endswith("s") or (len(found["subject"].split()) == 1 and not last[:1].isupper()):
        return None
    rest, more = _ended(found["rest"])
    if re.match(r"(?:of|and|or|is|are|was|were|to be)\b", rest) or any(
        word in BE or word in _MODAL_VERBS for word in rest.split()
    ):
        return None  # A plural noun: `the police reports of the year`.
    verb = _verb([found["verb"]])
    return (
        Clause(sentence[:at].strip(), uncapitalised(found["subject"]), found["verb"], *verb, rest, more)
        if verb
        else None
    )


def _is_verb_behind_be(rest: str) -> bool:
    found = _PARTICIPLE.match(rest)
    word = found["word"].strip(".,") if found else ""
    return bool(found) and (is_past(word) or (word.endswith("ing") and len(word) > 5))


def _ended(text: str) -> tuple[str, str]:
    """The rest of a clause up to where it ends, and what comes after."""
    at = 0
    while (end := _END.search(text, at)) is not None:
        if _LIST.match(text, end.start()) and _joins_nouns(text, end.start()):
            at = end.end() + 1
            continue
        if end[0] == ", " and re.match(r"\d{4}\b", text[end.end() :]) and re.search(r"\d$", text[: end.start()]):
            at = end.end()
            continue
        if re.match(r"\.\s", end[0]) and re.search(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|c)$", text[: end.start()]):
            at = end.end()
            continue
        return text[: end.start()].strip(), text[end.start() :].strip()
    return text.strip().rstrip(".!?"), ""


def _joins_nouns(text: str, at: int) -> bool:
    """Whether `and` joins two short phrases rather than clauses."""
    behind = re.match(r" (?:and|or) (?P<next>[\w’'-]+)(?: (?P<then>[\w’'-]+))?", text[at:])
    if behind is None:
        return False
    word = behind["next"]
    if any(w in BE or w in HAVE or w in _MODAL_VERBS or w in IRREGULAR for w in re.findall(r"\w+", text[at:])[2:6]):
        return False
    return (
        word[:1].isupper()
        or word[:1].isdigit()
        or word in ("the", "a", "an")
        or not (
            is_past(word)
            or third_person(word)
            or word.lower() in _UNSAID
            or is_verb(word)
            or word in BE
            or word in HAVE
            or word in _MODAL_VERBS
        )
    )
