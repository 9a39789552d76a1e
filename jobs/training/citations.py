"""Sentences of answers with the sources that support them: what the models of citing learn from.

A file is JSON Lines: `sentence`, `sources` (`title`, `text`: sentences that it may cite), and where they are known
`supports` (numbers of those that support it, counted from 1), else `written_from` (numbers of those that it was written
from); `question` where the sentence is a short answer, `key` where its key information is known, as parts of it.

Where `supports` lacks, the Task `cite` says it: a teacher, or the rule, which aligns the sentence with its sources.

Source: Xinyu AI Search, section 3.6.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from quern.jobs.reasoning.citing.inputs import CitingInput, Overlap, Source, Sources, word_elements
from quern.jobs.reasoning.citing.task import citing_task
from quern.jobs.tasks.runner import Reasoner
from quern.jobs.training.pairs import DataError, HeldOut, Pair, read_rows
from quern.schemas.tables.training_pairs import NEGATIVE, POSITIVE

Word = tuple[int, int, bool]  # Start, end, and whether it is key information.


@dataclass(frozen=True)
class Case:
    """A sentence of an answer with sources that it may cite."""

    given: CitingInput
    supports: tuple[int, ...] | None  # Numbers of the sources that support it; None where nobody said.
    key: tuple[str, ...]  # Parts of the sentence that are key information; empty where nobody said.
    origin: str  # Name of its file.

    @property
    def texts(self) -> list[str]:
        """All that it shows."""
        return [self.given.question, self.given.sentence, *(s.text for s in self.given.sources)]


def read_cases(files: Sequence[Path], held_out: Sequence[Path]) -> list[Case]:
    """The cases of files.

    Raises:
        DataError: A file cannot be read, a row is no case, or one has a text of the held-out sets.
    """
    cases = [c for file in files for c in read_rows(file, partial(_case, file.name), "sentence with its sources")]
    evaluated = HeldOut.read(held_out)
    if leaks := [case for case in cases if evaluated.has(case.texts)]:
        raise DataError(
            f"{len(leaks)} cases of {', '.join(sorted({c.origin for c in leaks}))} leak from the held-out sets, as "
            f"{leaks[0].given.sentence[:80]!r}: their sentence, question or a source stands there; remove them"
        )
    return cases


def _case(origin: str, row: Mapping[str, Any]) -> Case:
    sources = Sources(Source(s["text"], s.get("title") or None) for s in row["sources"])
    question, sentence, key = row.get("question") or "", row["sentence"], tuple(row.get("key", ()))
    supports = tuple(row["supports"]) if "supports" in row else None
    written = tuple(row.get("written_from", ()))
    if not sentence.strip() or not sources or not all(s.text.strip() for s in sources):
        raise ValueError("sentence or sources are empty")
    if wrong := {*(supports or ()), *written} - {*range(1, len(sources) + 1)}:
        raise ValueError(f"there is no source {min(wrong)}")
    if elsewhere := [part for part in key if not part or part not in sentence]:
        raise ValueError(f"key information {elsewhere[0]!r} is no part of the sentence")
    return Case(CitingInput(sentence, sources, written, question, alone=bool(question)), supports, key, origin)


def labelled(cases: Sequence[Case], reasoner: Reasoner) -> list[Case]:
    """The same with the sources that support each, by the Task `cite` where nobody said.

    A sentence that was written from sources is supported by that which shares most of it where the Task finds none.
    """
    unknown = [case for case in cases if case.supports is None]
    done = iter(reasoner.run(citing_task(), [case.given for case in unknown]))
    return [
        c if c.supports is not None else replace(c, supports=_or_nearest(c, next(done).output.sources)) for c in cases
    ]


def _or_nearest(case: Case, found: Sequence[int]) -> tuple[int, ...]:
    given = case.given
    if found or not given.drafted:
        return tuple(found)
    overlap = Overlap(given.weights, given.sources)
    return (max(given.drafted, key=lambda n: overlap.worth([n])),)


def selection_pairs(cases: Sequence[Case]) -> list[Pair]:
    """Each sentence with each of its sources: positive if it supports it. Those that nothing supports are left out.

    Of a sentence written from several, those that are not said to support it are no negatives.
    """
    return [
        Pair(case.given.claim, source.titled, POSITIVE if n in case.supports else NEGATIVE, "labelled", case.origin)
        for case in cases
        if case.supports
        for n, source in enumerate(case.given.sources, 1)
        if n in case.supports or n not in case.given.rests_on
    ]


def key_words(case: Case) -> list[Word]:
    """The words of a sentence that carry content: key information is what its parts say, else what its sources have."""
    given, words = case.given, word_elements(case.given.sentence)
    if case.key:
        places = ((part, re.finditer(f"(?={re.escape(part)})", given.sentence)) for part in case.key)
        inside = [(match.start(), match.start() + len(part)) for part, matches in places for match in matches]
        return [(start, end, any(a < end and start < b for a, b in inside)) for start, end, _ in words]
    held = frozenset().union(*(given.sources[n - 1].known for n in case.supports or ()))
    return [(start, end, not elements.isdisjoint(held)) for start, end, elements in words]


def data_of(cases: Sequence[Case], licence: str) -> list[tuple[str, str, int]]:
    """The files of cases with their licence and number, for a model card."""
    return [(name, licence, n) for name, n in Counter(c.origin for c in cases).items()]
