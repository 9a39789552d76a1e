"""What stands beside a question and is no part of it: how one came to ask, greetings, words to an assistant."""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.questions.clause_forms import asked_of_question
from quern.jobs.reasoning.questions.pairs import MEASURES
from quern.jobs.reasoning.questions.requests import opens_request, request_asked
from quern.jobs.reasoning.questions.words import AUXILIARIES, CLOSED, QUESTION_WORDS, bare, is_past, is_verb
from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.sentences import sentence_spans

_ME: Final = r"\b(?:I|my|me|we|our|us|My|We|Our)\b|\bi['’]"
# A question that leans on what was said before it: on a thing, or on what its asker told of himself.
_LEANS: Final = lazy_pattern(
    r"(?i:\b(?:he|she|it|its|they|them|him|his|hers?|their|this|these|those|there|that (?!the\b)|both|one of them"
    rf"|the (?:former|latter|same|other))\b)|{_ME}"
)
# Words to whom answers, not on what is asked.
_TO_ASSISTANT: Final = (
    r"(?i:please|kindly|ignore|disregard|forget|answer|respond|reply|say|pretend|act as|you are"
    r"|be (?:brief|concise|short)|think|thanks?|hi|hello|hey|cheers|sorry"
    r"|good (?:morning|evening|day)|system|assistant|user|note|important)\b"
)
_ORDER: Final = lazy_pattern(_TO_ASSISTANT)
_IDLE: Final = lazy_pattern(rf"^{_TO_ASSISTANT}|{_ME}|我")
_ASKS: Final = lazy_pattern(
    r"(?:(?:so|and|but|now|well|anyway|ok|okay|then|also|or|(?:my |the )?question(?: is)?)\s*[,:–—-]?\s+)*"
    r"(?:in|on|at|by|for|from|to|with|of|about|during|after|before)?\s*"
    r"\b(?:who|whom|whose|what|which|when|where|why|how|did|does|do|is|are|was|were|has|have|had|can|could|will|would"
    r"|should)\b",
    re.IGNORECASE,
)
# `So:`, `Quick question -` and the like before the words of the question itself.
_OPENER: Final = lazy_pattern(
    r"(?:(?:hi|hello|hey|dear \w+|good (?:morning|evening|day)|thanks?(?: you)?(?: in advance)?|so|well|anyway|ok|okay"
    r"|now|please|sorry|excuse me|(?:my|here is my|a|one)? ?(?:quick |short |last |next )?question(?: is)?"
    r"|just (?:wondering|curious)|i (?:was|am|'m) (?:just )?wondering|out of curiosity)"
    r"(?: there| all| everyone| again)?"
    r"\s*[,:;.!–—-]+\s*)+",
    re.IGNORECASE,
)
_SIDES: Final = lazy_pattern(r"\b(?:vs|versus|or)\b", re.IGNORECASE)  # What is set beside each other.
_LONGEST: Final = 400  # Characters; the expressions take the square of those before and behind a break.
_BREAK: Final = lazy_pattern(r"[:;–—]\s+|\s-\s+")
# Key words that ask: `population of Ostley`, `Ostley population`; and `Name the captain of the Marr`.
_WHAT: Final = rf"(?P<what>{MEASURES}|address|owner)"
_MEASURE_OF: Final = lazy_pattern(rf"(?:the )?{_WHAT} of (?P<of>[^\s?]+(?: [^\s?]+){{0,5}})\??", re.IGNORECASE)
# Two capitals show a name; the first word of a text has one anyway (`Maximum speed`, `La population`).
_MEASURE_LAST: Final = lazy_pattern(rf"(?P<of>[A-Z][^\s?]*(?: [A-Z][^\s?]*){{1,4}}) {_WHAT}\??")
_NAMELESS: Final = (
    rf"{MEASURES}|two|three|four|five|six|seven|eight|nine|ten|both|men|women|people|children|staff|crew"
    r"|year|month|week|day|date|time|reason|cause|purpose|difference"
)
# One that has a name: not several, and neither a measure, a time nor a reason.
_NAME_IT: Final = lazy_pattern(
    rf"name (?P<of>the (?!(?:[a-z]+ ){{0,2}}?(?:{_NAMELESS}) )(?:[a-z]+ ){{0,2}}?[a-z]*[a-rt-z] "
    r"(?:of|in|at|on|for|who|that) [^?!]+?)[.!]?",
    re.IGNORECASE,
)
_KNOWN: Final = lazy_pattern(
    r"(?:(?:do|did)\s+)?(?:you\s+)?(?:know|remember|recall|heard\s+(?:of|about))\s+(?:how\s+|when\s+)?"
    r"(?P<scene>(?:the|that|those|this|its|our|[A-Z][\w’'-]+)\s.+?)\s*\?",
    re.IGNORECASE,
)
_SURELY: Final = lazy_pattern(
    r"(?P<be>is|was|are|were|did|does|do|has|have|had)n['’]t\s+(?P<rest>.+?)\s*\?", re.IGNORECASE
)
_WHEN_THAT: Final = lazy_pattern(
    r"(?:(?P<word>when|where|why|how)|(?:in\s+)?(?:which|what)\s+(?P<unit>year|month))\s+(?:was|is|did|were)\s+"
    r"(?:that|this|it)(?:\s+(?:happen|be|again))?\s*\?",
    re.IGNORECASE,
)
_NAME: Final = lazy_pattern(r"(?<![.!?:] )(?<!^)\b(?!I\b|I['’])[A-Z][\w'’-]+|\d{2,}|[\"“«「《]")


def question_alone(text: str) -> str:
    """The question of `text`, without what was said beside it.

    Of the sentences beside the question those go that speak of the asker or to an assistant. If the question leans on
    them, the ones with a name stay, or all that tell something where none has one. A scene that is set stays.
    """
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    said = _scenes(sentences)
    questions = [n for n, sentence in enumerate(said) if _is_question(sentence)]
    direct = {n: request_asked(_without_opening(said[n])) for n in questions or range(len(said))}
    asking = questions or [n for n, sentence in direct.items() if sentence != said[n]]
    idle = {n for n, sentence in enumerate(said) if n not in asking and _IDLE.search(sentence)} if asking else set()
    if _LEANS.search(" ".join(said[n] for n in asking)):
        telling = {n for n in idle if not _ORDER.match(said[n])}
        idle -= {n for n in telling if _NAME.search(said[n])} or telling
    if idle or any(direct[n] != said[n] for n in direct) or said != sentences:
        text = " ".join(_raised(direct.get(n, sentence)) for n, sentence in enumerate(said) if n not in idle)
    alone = _asked(_without_opening(text))
    return _raised(alone) if idle or alone != text else text


def _scenes(said: list[str]) -> list[str]:
    """Sentences of a text; one that only asks whether something is known sets a scene for the question behind it.

    `You know the ferry that sank? Who built it?`, `Didn't the mill burn down once? Which year was that?`.
    """
    found: list[str] = []
    for n, sentence in enumerate(said):
        after = said[n + 1] if n + 1 < len(said) else ""
        if _is_question(after) and (known := _KNOWN.fullmatch(sentence)) is not None:
            found.append(f"{_raised(known['scene'])}.")
        elif found and (when := _WHEN_THAT.fullmatch(sentence)) and (asked := _SURELY.fullmatch(said[n - 1])):
            word = when["word"].lower() if when["word"] else f"in which {when['unit'].lower()}"
            found[-1] = asked_of_question(f"{asked['be']} {asked['rest']}", word) or found[-1]
        else:
            found.append(sentence)
    return found


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _asked(text: str) -> str:
    """A question for what key words, or an order to name it, ask for; other texts as they are."""
    if (m := _MEASURE_OF.fullmatch(text) or _MEASURE_LAST.fullmatch(text)) is not None:
        return text if _is_clause(m["of"]) else f"What is the {m['what'].lower()} of {m['of'].rstrip('.')}?"
    named = _NAME_IT.fullmatch(text)
    return f"What is the name of {named['of']}?" if named else text


def _is_clause(text: str) -> bool:
    """Whether words are more than a name: a verb stands in them, or what no name begins with."""
    words = [bare(word) for word in text.split()]
    if words[0] in CLOSED - {"a", "an", "the"} or is_verb(words[0]):
        return True
    return any(is_past(word) or word in AUXILIARIES or word in QUESTION_WORDS for word in words)


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)」』 ").endswith(("?", "？", "؟"))


def _without_opening(text: str) -> str:
    """A question without the words that lead to it in the same sentence."""
    opener = _OPENER.match(text)
    asks = opener is not None and (_ASKS.match(text, opener.end()) or opens_request(text, opener.end()))
    return text[opener.end() :] if opener and asks else _after_break(text)


def _after_break(text: str) -> str:
    """The question after a colon or dash, where nothing before it is named and nothing after it leans on that."""
    if len(text) > _LONGEST:
        return text
    for found in _BREAK.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _ASKS.match(before) or _NAME.search(before) or _SIDES.search(before) or _LEANS.search(after):
            return text
        if _ASKS.match(after):
            return after
    return text
