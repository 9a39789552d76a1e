"""The statements of a chunk by rule: rows of tables, and sentences by one pattern for each language.

Of an English sentence a name or phrase, the group of a verb, and what stands behind it. The relation is the verb's
group, with the words up to a preposition where the object stands behind one (ReVerb, Fader and others 2011, section 3:
V, V P, V W* P). Only the first verb of a sentence is read, and what it does not fit is left out. Of a Chinese sentence
its first clause, where its verb is one of a few that relate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Final, Literal, NamedTuple

from quern.jobs.text.tables import rows
from quern.jobs.text.words import CLOSED, PARTICIPLES, PASTS, PREPOSITIONS, is_past
from quern.schemas.words.scripts import HAN
from quern.schemas.words.sentences import sentence_spans

How = Literal["sentence", "row", "model"]
"""What stated it: a sentence, or a row of a table; or a model found it."""


class Part(NamedTuple):
    """The characters `start` to `end` of a chunk's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The characters themselves."""
        return text[self.start : self.end]


@dataclass(frozen=True)
class Statement:
    """What a chunk states (GraTAG, section 3.3); all three parts stand in it."""

    subject: Part  # Of what it is stated.
    relation: Part  # How the two are related, as worded there.
    object: Part  # To what, or what value it has.
    start: int  # First character of the sentence or line that states it.
    end: int  # One past its last.
    how: How  # What stated it.

    def words(self, text: str) -> tuple[str, str, str]:
        """Subject, relation and object as they stand in the chunk `text`."""
        return self.subject.of(text), self.relation.of(text), self.object.of(text)


@dataclass(frozen=True)
class Passage:
    """A chunk as statements are found in it."""

    text: str  # Its text.
    title: str  # Title of the document; may be empty.

    @cached_property
    def sentences(self) -> list[Part]:
        """Its sentences, a line break always ending one."""
        return [Part(*span) for span in sentence_spans(self.text)]

    @cached_property
    def topic(self) -> Part | None:
        """The title, or the part of it before a colon or bar, where the chunk names it; None where it does not."""
        for form in (self.title, self.title.split(": ")[0], self.title.split(" | ")[0], self.title.split(" (")[0]):
            at = self.text.find(form) if len(form) > 1 else -1
            if at >= 0:
                return Part(at, at + len(form))
        return None


_NOTHING: Final = re.compile(r"(?:[\W_]*|n/?a|none|unknown|tbc|tba)", re.I)


def row_statements(passage: Passage) -> Iterator[Statement]:
    """What the rows of the tables in a chunk state."""
    text = passage.text
    if "|" not in text:
        return
    lines = text.split("\n")
    begins = [0, *accumulate(len(line) + 1 for line in lines)]
    for number, row in sorted(rows(lines).items()):
        cells = _places(text, begins[number], row.cells)
        if not row.cells[0]:
            continue
        if row.header_line is not None and row.header:
            heads = _places(text, begins[row.header_line], row.header)
            for n in range(1, len(cells)):
                merged = n + 1 < len(cells) and not row.cells[n + 1]
                if heads[n].of(text) and not merged and _tells(row.cells[n]) and row.cells[0] != row.cells[n]:
                    yield Statement(cells[0], heads[n], cells[n], cells[0].start, cells[-1].end, "row")
        elif len(cells) == 2 and passage.topic not in (None, cells[0]) and _tells(row.cells[1]):
            yield Statement(passage.topic, cells[0], cells[1], cells[0].start, cells[1].end, "row")


def _places(text: str, at: int, cells: Sequence[str]) -> list[Part]:
    """Where the cells of a line that begins at `at` stand."""
    places = []
    for cell in cells:
        start = text.index(cell, at)
        at = start + len(cell)
        places.append(Part(start, at))
    return places


def _tells(cell: str) -> bool:
    """Whether a cell tells a value: not blank, a dash, or prose."""
    # A longer cell is prose, which states more than one thing.
    return len(cell) <= 120 and _NOTHING.fullmatch(cell) is None


# What is asked, supposed, quoted, or a cell of a table.
_UNSTATED: Final = re.compile(r"^[\"“'‘|]|\b(?:if|unless|whether)\b|[?？]\W{0,9}$|\s\|\s", re.IGNORECASE)
_NAME: Final = r"(?:The |the )?[A-Z][\w’'&.-]*(?: (?:(?:of|the|and|de|van|von) ){0,2}[A-Z0-9][\w’'&-]*)*"
_WORD: Final = rf"(?!(?:{'|'.join(sorted(CLOSED - {'of', 'the'}))})\b)[\w’'-]+"
_ADVERB: Final = r"(?:(?:not|never|also|already|now|still|first|\w+ly) )*"
_PARTICIPLE: Final = rf"(?:[a-z]+ed|{'|'.join(sorted(PARTICIPLES))})\b"
_CLAUSE: Final = re.compile(
    r"(?:(?:In|On|At|By|Since|From|During|After|Before) [^,.;:]{0,40}?(?:, |\d{4},? ))?"
    rf"(?P<subject>{_NAME}|(?:The|the|An?|an?) (?:{_WORD} ){{0,5}}?{_WORD})"
    r"(?: \([^()]*\)|, (?:an?|the|who|which|aged) [^,]{2,80},)? "
    rf"(?P<verb>{_ADVERB}(?:(?:(?:has|have|had|will|can) {_ADVERB}(?:been )?|(?:is|are|was|were) {_ADVERB})"
    rf"{_PARTICIPLE}|(?:is|are|was|were|has|have|had)\b|(?:[a-z]+ed|{'|'.join(sorted(PASTS))})\b)) ?"
)
# Who says, thinks or wants something is no source of it.
_SAYS: Final = re.compile(
    r"\b(?:sa(?:id|ys?)|th(?:ink|inks|ought)|believed?|hoped?|claimed?|told|asked|wanted|felt|argued?|warned|denied"
    r"|suggested|knew|known|seemed|expected|reported|tried)\b"
)
_END: Final = re.compile(
    r"[,;:.!]+(?: |$)|[\"“”()–—]| (?=(?:and|or|but|nor|so|because|while|when|as|than|that|which|who|whom|whose|where|"
    r"how|what|though|although|to be|then|there|too)\b)"
)
_PREPOSITION: Final = re.compile(rf"(?<= )(?:{'|'.join(sorted(PREPOSITIONS - {'of', 'except', 'like'}))}) ")
_POINTS: Final = (CLOSED - {"the", "a", "an"}) | set("there here nothing nobody one us not".split())
_CHINESE: Final = re.compile(
    r"(?P<subject>《[^》]{1,24}》|(?!如果|目前|同时|[这那其该此您本在由从于当但并也又还就都因为对据经以有各每])"
    rf"(?:(?![的了是着过他她它我你说而随或前后时])[{HAN}A-Za-z0-9·]){{2,16}}?)(?:（[^（）]{{1,40}}）)?，?"
    r"(?P<verb>出生于|毕业于|成立于|创立于|创建于|始建于|建于|位于|坐落于|来自|隶属于|属于|设计了|获得|担任|又称|简称|全长|总部位于|包括|拥有|是)"
    r"(?P<object>(?!否|因为|由于|为了|不|这|那|其|他|她|它|我|你|什么|谁|怎|如何)(?:《[^》]{1,24}》|[^，。；：！？、,;:!?（）()《》“”\"\n]){1,40})"
)


def read_statements(passage: Passage, most: int) -> list[Statement]:
    """At most `most` statements of a chunk, in reading order; of those that say the same the first."""
    statements = chain(row_statements(passage), _english(passage), _chinese(passage))
    unique: dict[tuple[str, str, str], Statement] = {}
    for one in sorted(statements, key=lambda s: (s.start, s.relation, s.object)):
        words = one.words(passage.text)
        plain = all(0 < len(part) <= 200 and part == part.strip() and "\n" not in part for part in words)
        if words[0] != words[2] and plain:
            unique.setdefault(words, one)
    return list(unique.values())[:most]


def _english(passage: Passage) -> Iterator[Statement]:
    """What the first clause of each English sentence states."""
    text = passage.text
    for span in passage.sentences:
        match = None if _UNSTATED.search(span.of(text)) else _CLAUSE.match(text, span.start, span.end)
        if match is None or _SAYS.search(match["verb"]) or match["subject"].split()[0].lower() in _POINTS:
            continue
        subject, verb = Part(*match.span("subject")), match.start("verb")
        stop = _END.search(text, match.end(), span.end)
        end = stop.start() if stop else span.end
        # Of each phrase: where the relation before it ends, and where it begins and ends itself.
        marks = [*_PREPOSITION.finditer(text, match.end(), end)]
        starts = [(match.end("verb"), match.end()), *((m.end() - 1, m.end()) for m in marks)]
        ends = [*(m.start() for m in marks), end]
        for (relation_end, first), last in zip(starts, ends, strict=True):
            value = text[first:last].strip()
            words = value.split()
            if not words and first == match.end():
                continue
            relation = Part(verb, relation_end)
            long = len(words) > 10 or 2 * len(relation.of(text).split()) > 10  # Of an object.
            if not words or long or words[0].lower() in _POINTS or is_past(words[-1]):
                break
            yield Statement(subject, relation, Part(first, first + len(value)), *span, "sentence")


def _chinese(passage: Passage) -> Iterator[Statement]:
    """What the first clause of each Chinese sentence states."""
    text = passage.text
    for span in passage.sentences if not text.isascii() else ():
        match = _CHINESE.match(text, span.start, span.end)
        if match is not None and text[span.end - 1] not in "？?" and match["object"][-1] not in "吗呢吧的":
            subject, relation, value = (Part(*match.span(group)) for group in ("subject", "verb", "object"))
            yield Statement(subject, relation, value, *span, "sentence")
