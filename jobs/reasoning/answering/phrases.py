"""The part of a sentence that answers a question whose answer has no form: what stands behind the question's verb.

`What did the divers find?` is answered by what follows `found`; in Chinese by what is left of the clause that shares
most with the question when its words are taken away from the front.
"""

from __future__ import annotations

import re
from typing import Final

from quern.jobs.reasoning.answering.kinds.kind import Kind
from quern.jobs.reasoning.answering.typed.sentence import CAUSE
from quern.jobs.reasoning.answering.wording import said_by_others
from quern.jobs.text.stems import content_words
from quern.schemas.words.scripts import HAN

_SPEAKER: Final = re.compile(r"^\s*[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3}:\s+")
_CLAUSE_END: Final = re.compile(r"[.;!?]\s|[.;!?]$|,\s+(?:and|but|which|who|so|while|although|because)\s|\s[–—-]\s")
_WORD: Final = re.compile(r"[\w’'-]+")
_MOST_CAUSE: Final = 25  # Words of a cause.
_MOST_WORDS: Final = 14  # Of a phrase that is told by itself.
_HAN: Final = re.compile(f"[{HAN}]")
_HAN_CLAUSE: Final = re.compile(r"[，。；！？：,;]")
_HAN_CAUSE: Final = re.compile(
    r"由(?!于)([^，。；]{2,30}?)(?:所?引起|所?造成|引发|导致|所致)|(?:因为|由于|(?<![原起])因(?![素子特果此]))([^，。；]{2,30})"
)
_BINDS: Final = re.compile(
    r"^(?:[的之]|就|也|则|都|主要|一般|通常|被?(?:称为|称作|叫做|叫作|叫)|是|为|有|在|于|由|由于|因为|因|包括|分别|指)+"
)


def phrase(question: str, kind: Kind, sentence: str) -> str:
    """The part of `sentence` that answers; empty where it cannot be told from the rest."""
    if _HAN.search(question):
        if kind.name == "why" and (caused := _HAN_CAUSE.search(sentence)) is not None:
            return next(part for part in caused.groups() if part)
        return _chinese(question, sentence) if _HAN.search(sentence) else ""
    plain = _SPEAKER.sub("", sentence)
    found = _cause(plain) if kind.name == "why" else _behind(kind.verb, plain) if kind.name == "other" else ""
    if found:
        return found
    whole = plain.strip()
    return whole if whole != sentence.strip() and len(whole.split()) <= _MOST_WORDS else ""


def _cause(sentence: str) -> str:
    """What follows a word of cause or purpose, that word with it, to the end of its clause."""
    marker = CAUSE.search(sentence)
    if marker is None:
        return ""
    end = _CLAUSE_END.search(sentence, marker.end())
    found = sentence[marker.start() : end.start() if end else len(sentence)].strip(" ,:\"“”'.")
    return found if 2 <= len(found.split()) <= _MOST_CAUSE else ""


def _behind(verb: str, sentence: str) -> str:
    """What follows the word of the verb, to the end of its clause."""
    for m in _WORD.finditer(sentence) if verb else ():
        stems = content_words(m[0])
        if verb in stems or said_by_others(frozenset({verb}), stems):
            end = _CLAUSE_END.search(sentence, m.end())
            rest = sentence[m.end() : end.start() if end else len(sentence)].strip(" ,:\"“”'")
            if 1 <= len(rest.split()) <= _MOST_WORDS:
                return rest
    return ""


def _chinese(question: str, sentence: str) -> str:
    """What is left of the clause that shares most with the question behind what it shares."""
    asked = set(_bigrams(question))
    clauses = [c.strip() for c in _HAN_CLAUSE.split(sentence) if c.strip()]
    best = max(clauses, key=lambda c: sum(b in asked for b in _bigrams(c)), default="")
    at = max((n + 2 for n, b in enumerate(_bigrams(best)) if b in asked), default=0)
    rest = _BINDS.sub("", best[at:]).strip("“”\"' 、（）()")
    if len(rest) >= 2:
        return rest
    later = clauses[clauses.index(best) + 1 :] if best in clauses else []
    return _BINDS.sub("", later[0]) if later else ""


def _bigrams(text: str) -> list[str]:
    return [text[n : n + 2] for n in range(len(text) - 1)]
