"""The statements of a chunk by rule: rows of tables, lines of key and value, and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from quern.jobs.triplets.chinese import chinese_statements
from quern.jobs.triplets.rows import row_statements
from quern.jobs.triplets.sentences import sentence_statements
from quern.jobs.triplets.statement import Part, Passage, Statement

_LONGEST = 200  # Characters of one part.


def read_statements(passage: Passage, most: int, parser: str = "none") -> list[Statement]:
    """At most `most` statements of a chunk, in reading order, each once.

    Args:
        passage: The chunk.
        most: How many at most.
        parser: `spacy` for English sentences by its parser, `none` for patterns.
    """
    return _once(passage, chain(row_statements(passage), _sentences(passage, parser), chinese_statements(passage)))[
        :most
    ]


def _sentences(passage: Passage, parser: str) -> Iterator[Statement]:
    if parser == "spacy":
        # The parser is an extra, and takes seconds to load.
        from quern.jobs.triplets.parsed import parsed_statements

        return parsed_statements(passage)
    return sentence_statements(passage)


def _once(passage: Passage, found: Iterable[Statement]) -> list[Statement]:
    """The statements whose parts are three, sorted by place; of those that say the same the first."""
    kept: dict[tuple[str, str, str], Statement] = {}
    for one in sorted(found, key=lambda s: (s.start, s.relation, s.object)):
        words = one.words(passage.text)
        parts = zip((one.subject, one.relation, one.object), words, strict=True)
        if words[0] != words[2] and all(_plain(part, text) for part, text in parts):
            kept.setdefault(words, one)
    return list(kept.values())


def _plain(part: Part, words: str) -> bool:
    return 0 < part.end - part.start <= _LONGEST and words == words.strip() and "\n" not in words
