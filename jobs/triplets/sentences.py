"""What English sentences state, by one pattern: a name or a phrase, the group of a verb, and what stands behind it.

The relation is the verb's group, with the words up to a preposition where the object stands behind one (ReVerb, Fader
and others 2011, section 3: V, V P, V W* P). Only the first verb of a sentence is read, and what it does not fit is left
out; a parser finds twice as much (`triplets.parser`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from quern.jobs.queries.rules.units import dialogue_speakers
from quern.jobs.text.names import is_body, names
from quern.jobs.text.words import CLOSED, PARTICIPLES, PASTS, PREPOSITIONS, is_past
from quern.jobs.triplets.statement import Part, Passage, Statement
from quern.schemas.words.scripts import HAN

_LABEL: Final = re.compile(r"\s*(?P<name>[A-Z][\w’'-]*(?:\s+[A-Z][\w’'-]*){0,3}):\s+")
_HAN: Final = re.compile(f"[{HAN}]")
_SUPPOSES: Final = re.compile(r"\b(?:if|unless|whether)\b|[?？]\W{0,9}$", re.IGNORECASE)
_BESIDE: Final = re.compile(
    r" (?:\((?P<born>born) (?:on )?(?P<day>(?:\d{1,2} )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4})|"
    r"(?P<open>\()(?P<alias>[A-Z][A-Z0-9&-]{1,9})\))"
)
_LEAD: Final = re.compile(
    r"(?:(?:In|On|At|By|Since|From|During|After|Before) [^,.;:]{0,40}?(?:, |\d{4},? )|Then |Later )?"
)
_NAME: Final = r"(?:The |the )?[A-Z][\w’'&.-]*(?: (?:(?:of|the|and|de|van|von) ){0,2}[A-Z0-9][\w’'&-]*)*"
_PHRASE: Final = (
    rf"(?:The|the|An?|an?) (?:(?!(?:{'|'.join(sorted(CLOSED - {'of', 'the'}))})\b)[\w’'-]+ ){{0,5}}?[\w’'-]+"
)
_ASIDE: Final = r"(?: \([^()]*\)|, (?:an?|the|who|which|aged) [^,]{2,80},)?"
_ADVERB: Final = r"(?:(?:not|never|also|already|now|still|first|\w+ly) )*"
_PARTICIPLE: Final = rf"(?:[a-z]+ed|{'|'.join(sorted(PARTICIPLES))})\b"
_VERB: Final = (
    rf"{_ADVERB}(?:(?:(?:has|have|had|will|can) {_ADVERB}(?:been )?|(?:is|are|was|were) {_ADVERB}){_PARTICIPLE}|"
    rf"(?:is|are|was|were|has|have|had)\b|(?:[a-z]+ed|{'|'.join(sorted(PASTS))})\b)"
)
_THIRD: Final = rf"{_ADVERB}(?!(?:is|was|has|does|news|years|months|weeks|days|hours)\b)[a-z]{{2,}}[^\Ws]s\b"
_CLAUSES: Final = tuple(
    re.compile(rf"(?P<subject>{subject}){_ASIDE} (?P<verb>{verb}) ?")
    for subject, verb in ((r"(?:He|She|It|I)\b", _VERB), (_NAME, rf"(?:{_VERB}|{_THIRD})"), (_PHRASE, _VERB))
)
# Who says, thinks or wants something is no source of it.
_SAYS: Final = re.compile(
    r"\b(?:say|says|said|think|thinks|thought|believed?|believes|hoped?|hopes|claimed?|claims|told|asked|wanted|felt|"
    r"argued?|argues|warned|denied|suggested|suggests|knew|knows|known|seemed|seems|expected|reported|tried)\b"
)
_END: Final = re.compile(
    r"[,;:.!]+(?: |$)|[\"“”()–—]| (?=(?:and|or|but|nor|so|because|while|when|as|than|that|which|who|whom|whose|where|"
    r"how|what|though|although|to be|then|there|too)\b)"
)
_PREPOSITION: Final = re.compile(rf"(?<= )(?P<word>{'|'.join(sorted(PREPOSITIONS - {'of', 'except', 'like'}))}) ")
_NOBODY: Final = CLOSED - {"he", "she", "it", "i", "the", "a", "an"} | {"there", "here", "nothing", "nobody", "one"}
_EMPTY: Final = frozenset("it him her them this that these those me us you one there not".split())
_LONGEST: Final = 10  # Words of an object.
_LONGEST_RELATION: Final = 5


def sentence_statements(passage: Passage) -> Iterator[Statement]:
    """What the sentences of a chunk state; rows of tables and Chinese sentences are left to others."""
    text = passage.text
    speakers = dialogue_speakers(text)
    before: Part | None = None  # The subject of the sentence before, if that was a name.
    in_quote, line_end, speaker = False, 0, None
    for span in passage.sentences:
        sentence = span.of(text)
        if "\n" in text[line_end : span.start] or span.start == 0:
            in_quote, before, speaker = False, None, None
        line_end = span.end
        quoted = in_quote or sentence[:1] in "\"“'‘"
        in_quote ^= sentence.count('"') % 2 == 1 or sentence.count("“") != sentence.count("”")
        if " | " in sentence or sentence.startswith("|") or 3 * len(_HAN.findall(sentence)) > len(sentence):
            continue
        at = span.start
        if (label := _LABEL.match(sentence)) and label["name"] in speakers:
            speaker = Part(at + label.start("name"), at + label.end("name"))
            at += label.end()
        if quoted:
            continue
        yield from _beside_names(text, at, span)
        subject: Part | None = None
        for stated in _stated(text, at, span):
            who = stated.subject.of(text)
            if who in ("He", "She", "It", "I"):
                meant = speaker if who == "I" else _meant(who, before, text)
                if meant is None:
                    continue
                stated = Statement(meant, stated.relation, stated.object, span.start, span.end, "sentence")
            subject = stated.subject
            yield stated
        if subject and subject != speaker:
            before = subject if names(subject.of(text)) else None
        elif names(text[at : span.end]):
            before = None


def _stated(text: str, at: int, span: Part) -> Iterator[Statement]:
    """What the first clause of a sentence states."""
    if _SUPPOSES.search(text, at, span.end):
        return
    start = _LEAD.match(text, at, span.end).end()  # type: ignore[union-attr]
    found = next((m for clause in _CLAUSES if (m := clause.match(text, start, span.end))), None)
    if found is None or _SAYS.search(found["verb"]) or found["subject"].split()[0].lower() in _NOBODY:
        return
    subject, verb = Part(*found.span("subject")), found.start("verb")
    stop = _END.search(text, found.end(), span.end)
    end = stop.start() if stop else span.end
    # Of each phrase: where its preposition begins and ends, and where it begins itself.
    phrases = [(found.end("verb"), found.end("verb"), found.end())]
    phrases += [(*m.span("word"), m.end()) for m in _PREPOSITION.finditer(text, found.end(), end)]
    for n, (_, relation_end, first) in enumerate(phrases):
        last = phrases[n + 1][0] if n + 1 < len(phrases) else end
        relation = Part(verb, relation_end)
        value = text[first:last].strip()
        words = value.split()
        if not words and n == 0:
            continue
        long = len(words) > _LONGEST or len(relation.of(text).split()) > _LONGEST_RELATION
        if not words or long or words[0].lower() in _EMPTY or is_past(words[-1]):
            return
        yield Statement(subject, relation, Part(first, first + len(value)), *span, "sentence")


def _meant(pronoun: str, before: Part | None, text: str) -> Part | None:
    """The name that the sentence before was about, if it can be a person for `he`, and a thing for `it`."""
    if before is None:
        return None
    name = before.of(text)
    found = names(name)
    role = found[0].role if found else "other"
    titled = name.startswith("The ")
    like_person = not titled and (role == "person" or (" " in name and role == "other" and not is_body(name)))
    return before if like_person != (pronoun == "It") else None


def _beside_names(text: str, at: int, span: Part) -> Iterator[Statement]:
    """What stands in parentheses behind a name: `(born 1951)`, `(HCB)`."""
    for name in names(text[at : span.end]):
        subject = Part(at + name.start, at + name.end)
        found = _BESIDE.match(text, subject.end, span.end)
        if found and (found["born"] or _abbreviates(found["alias"], name.text)):
            relation, value = ("born", "day") if found["born"] else ("open", "alias")
            yield Statement(subject, Part(*found.span(relation)), Part(*found.span(value)), *span, "name")


def _abbreviates(short: str, name: str) -> bool:
    """Whether capitals are those of a name's words, in order."""
    letters = iter("".join(word[0] for word in re.findall(r"\w+", name)).upper())
    return all(c in letters for c in short if c.isalpha())
