"""Questions with evidence that is known to answer them, or not to: what confidence is fitted and measured on.

Of a warehouse's gold questions, those whose gold documents are all among the best chunks are answered by them; those
that nothing answers, and every question whose gold documents are struck out of its evidence, are not.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quern.indexes.catalog import Warehouse
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.pipelines.query import BATCH_QUESTIONS
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found, load_evidence
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher, settings_to_ask_by

_EVIDENCE = 5
_SPARE = 10  # Chunks beyond, which stand in for those that are struck out.
_CHINESE_QUESTIONS = 200
_STORY_QUESTIONS = 300


@dataclass(frozen=True)
class Case:
    """A question with evidence."""

    set: str  # The set that it is of.
    given: AnswerInput  # The question and its evidence.
    answered: bool  # Whether the evidence answers it.
    real: bool  # Whether its evidence is what was found for it, and nothing of it was struck out.
    gold: tuple[str, ...] = ()  # Sentences or quotes that answer, where the set names them.


def cases(datasets: Path, warehouses: Sequence[Path]) -> list[Case]:
    """The cases of all sets whose data is at hand; a warehouse is known by the name of its folder."""
    found = [*_clapnq(datasets / "clapnq"), *_stories(datasets / "fairytaleqa")]
    for folder in warehouses:
        found += list(_OF_WAREHOUSE[folder.name](folder, datasets))
    return found


def _lines(file: Path) -> list[dict]:
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _clapnq(folder: Path) -> Iterator[Case]:
    for name in ("answerable", "unanswerable"):
        for row in _lines(folder / f"{name}.jsonl"):
            (passage,), output = row["passages"], row["output"][0]
            evidence = Evidence(passage["text"], passage["title"], [], [])
            gold = tuple(output.get("selected_sentences") or ())
            yield Case("clapnq", AnswerInput(row["input"], [evidence]), name == "answerable", real=True, gold=gold)


def _stories(folder: Path) -> Iterator[Case]:
    """A story's section with a question of it, and the question with another section of the story."""
    rows = _lines(folder / "train.jsonl")
    chance = random.Random(0)
    chance.shuffle(rows)
    sections: dict[str, dict[str, str]] = {}
    for row in rows:
        sections.setdefault(row["story"], {})[row["section"]] = row["text"]
    for row in (r for r in rows[:_STORY_QUESTIONS] if r["explicit"]):
        answer = _plain(row["answers"][0])
        yield Case("fairytaleqa", _story(row["question"], row["text"]), answered=True, real=True)
        others = [t for s, t in sections[row["story"]].items() if s != row["section"] and answer not in _plain(t)]
        if others:
            yield Case("fairytaleqa", _story(row["question"], chance.choice(others)), answered=False, real=False)


def _story(question: str, text: str) -> AnswerInput:
    return AnswerInput(question, [Evidence(text, None, [], [])])


def _found(folder: Path, questions: Sequence[str]) -> list[Found]:
    warehouse = Warehouse.open(folder)
    manifest = warehouse.manifest(None)
    settings = settings_to_ask_by(manifest)
    wide = settings.retrieve.model_copy(update={"top_k": _EVIDENCE + _SPARE})
    searcher = Searcher(warehouse.snapshot(manifest.build_id), settings.model_copy(update={"retrieve": wide}))
    (recipe,) = find_recipes("bridge")
    found: list[Found] = []
    for start in range(0, len(questions), BATCH_QUESTIONS):
        batch = Batch(searcher, questions[start : start + BATCH_QUESTIONS])
        found += load_evidence(batch, recipe.rank(batch))
    return found


@dataclass(frozen=True)
class _Gold:
    """A question of a warehouse: documents by key or address, any of which `aliases` alone may hold the answer."""

    question: str
    answer: str
    documents: frozenset[str]
    aliases: frozenset[str] = frozenset()
    quotes: tuple[str, ...] = ()
    null: bool = False


def evidence_of(folder: Path, questions: Sequence[str]) -> list[list[Evidence]]:
    """The best chunks of the warehouse in `folder` for each question."""
    return [found.evidence[:_EVIDENCE] for found in _found(folder, questions)]


def _of_gold(name: str, folder: Path, gold: Sequence[_Gold]) -> Iterator[Case]:
    for asked, found in zip(gold, _found(folder, [g.question for g in gold]), strict=True):
        hits = [({h.doc_id, h.url}, e) for h, e in zip(found.hits, found.evidence, strict=True)]
        best = [e for _, e in hits[:_EVIDENCE]]
        if asked.null:
            yield Case(name, AnswerInput(asked.question, best), answered=False, real=True)
            continue
        seen = set().union(*(keys for keys, _ in hits[:_EVIDENCE]))
        if asked.documents <= seen:
            yield Case(name, AnswerInput(asked.question, best), answered=True, real=True, gold=asked.quotes)
        left = [e for keys, e in hits if not keys & (asked.documents | asked.aliases) and not _answers(asked, e)]
        yield Case(name, AnswerInput(asked.question, left[:_EVIDENCE]), answered=False, real=False)


def _answers(asked: _Gold, evidence: Evidence) -> bool:
    """Whether a chunk of another document holds the answer too, word for word."""
    text, answer = _plain(evidence.text), _plain(asked.answer)
    return (len(answer) > 3 and answer in text) or any(_plain(q) in text for q in asked.quotes)


def _demo(folder: Path, _: Path) -> Iterator[Case]:
    rows = _lines(Path(__file__).parents[1] / "corpus" / "questions.jsonl")
    gold = [
        _Gold(
            r["question"],
            r["answer"],
            frozenset(r["evidence_urls"]),
            frozenset(r.get("also_urls", ())),
            tuple(r["evidence_quotes"]),
            r["type"] == "null",
        )
        for r in rows
    ]
    return _of_gold("demo", folder, gold)


def _domain(folder: Path, _: Path) -> Iterator[Case]:
    """A visible domain of `tests/corpus/domains`, by the name of the folder."""
    rows = _lines(Path(__file__).parents[1] / "corpus" / "domains" / folder.name / "questions.jsonl")
    gold = [
        _Gold(r["question"], str(r.get("answer", "")), frozenset(r["evidence_urls"]), null=r["type"] == "null")
        for r in rows
    ]
    return _of_gold(folder.name, folder, gold)


def _lihua(folder: Path, datasets: Path) -> Iterator[Case]:
    rows = [
        r for r in _lines(datasets / "lihua_world" / "queries.jsonl") if r["type"] == "Null" or r["evidence_doc_ids"]
    ]
    return _of_gold("lihua", folder, [_of_row(r, null=r["type"] == "Null") for r in rows])


def _of_row(row: dict, *, null: bool = False) -> _Gold:
    return _Gold(row["question"], row["answer"], frozenset(row["evidence_doc_ids"]), null=null)


def _musique(folder: Path, datasets: Path) -> Iterator[Case]:
    """The questions of several hops, and their single steps as questions of their own."""
    rows = _lines(datasets / "musique_train100" / "queries.jsonl")
    yield from _of_gold("musique", folder, [_of_row(r) for r in rows])
    steps = []
    for row in rows:
        answers = [step["answer"] for step in row["decomposition"]]
        for step, document in zip(row["decomposition"], row["evidence_doc_ids"], strict=False):
            question = re.sub(r"#(\d)", lambda m, known=answers: known[int(m[1]) - 1], step["question"])
            if ">>" not in question and len(answers) == len(row["evidence_doc_ids"]):
                steps.append(_Gold(question, step["answer"], frozenset({document})))
    yield from _of_gold("musique steps", folder, steps)


def _cmrc(folder: Path, datasets: Path) -> Iterator[Case]:
    rows = _lines(datasets / "cmrc2018" / "queries.jsonl")
    random.Random(0).shuffle(rows)
    return _of_gold("cmrc", folder, [_of_row(r) for r in rows[:_CHINESE_QUESTIONS]])


_OF_WAREHOUSE = {
    "pumps": _domain,
    "computing": _domain,
    "demo": _demo,
    "lihua": _lihua,
    "musique": _musique,
    "cmrc": _cmrc,
}
