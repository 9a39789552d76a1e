"""Standing questions: over random nights, answers through the memo are those of answering everything anew."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import quern
from quern.indexes.catalog import Warehouse
from quern.pipelines.answers.difference import AnswerChange, DifferenceError, PageChange, differences
from quern.pipelines.answers.files import write_answers
from quern.pipelines.build.whole import build
from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, Question
from quern.schemas.settings.reading import load_settings
from tests.conftest import Quern

SETTINGS = load_settings(
    overrides=["engine.engine=local", "audit.max_shrink=1", "doc2query.pairs=6", "filter.alpha=1", "retrieve.top_k=2"]
)
MILLS = ("Ostra", "Pell", "Marrow", "Tollen", "Quill", "Dunmere")
(BRIDGE,) = find_recipes("bridge")


def page(mill: str, built: int, villages: int, miller: str) -> dict[str, str]:
    text = (
        f"The mill of {mill} was built in {built} by {miller}. It grinds rye for {villages} villages. "
        f"The wheel of {mill} turns only when the sluice is open.\nIts roof was thatched again in {built + 90}."
    )
    return {"doc_id": f"mill-{mill.lower()}", "title": f"The mill of {mill}", "text": text}


def questions() -> list[Question]:
    texts = [f"When was the mill of {mill} built?" for mill in MILLS]
    texts += [f"Who built the mill of {mill}, and for how many villages does it grind?" for mill in MILLS[:3]]
    texts += ["Which is older, the mill of Ostra or the mill of Pell?", "What does a kilogram of saffron cost?"]
    return [Question(query_id=f"q{n}", question=text) for n, text in enumerate(texts)]


class Nights:
    """A corpus that changes, the warehouse that is built of it each night, and what its questions are answered."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self.pages = {mill: page(mill, 1700 + n, n + 3, "Greta Holm") for n, mill in enumerate(MILLS[:4])}
        self.warehouse = Warehouse.create(folder / "wh")

    def change(self) -> None:
        """Add, take away or rewrite one page."""
        mill = self.random.choice(MILLS)
        if mill in self.pages and len(self.pages) > 2 and self.random.random() < 0.4:
            del self.pages[mill]
        else:
            self.pages[mill] = page(mill, self.random.randrange(1600, 1900), self.random.randrange(2, 9), "Ada Voss")

    def build(self) -> Searcher:
        """Tonight's snapshot."""
        path = self.folder / "mills.jsonl"
        path.write_text("".join(json.dumps(p) + "\n" for p in self.pages.values()), "utf-8")
        build(path, self.warehouse, SETTINGS)
        return Searcher(self.warehouse.snapshot(), SETTINGS)

    def answered(self, searcher: Searcher, memo: Path | None) -> list[Answer]:
        return list(answer_questions(searcher, questions(), BRIDGE, memo))


def evidence(answer: Answer) -> object:
    return [(hit.title, hit.text) for hit in answer.hits]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Nights:
    return Nights(tmp_path_factory.mktemp("nights"), seed=13)


@pytest.fixture(scope="module")
def nights(place: Nights) -> list[tuple[list[Answer], list[Answer], int]]:
    """Per night: the answers through the memo, those anew, and how many inputs were reasoned about."""
    memo, told = place.folder / "memo", []
    searcher = place.build()
    for night in range(4):
        if night in (1, 3):  # The third night is quiet.
            place.change()
            searcher = place.build()
        before = remembered(memo)
        kept = place.answered(searcher, memo)
        told.append((kept, place.answered(searcher, None), remembered(memo) - before))
    return told


def remembered(memo: Path) -> int:
    return sum(int(part.stem.rsplit("-", 1)[1]) for part in memo.rglob("*.arrow"))


def test_answers_through_the_memo_are_those_of_answering_anew(
    nights: list[tuple[list[Answer], list[Answer], int]],
) -> None:
    assert sum(a.found for kept, _, _ in nights for a in kept) > 20
    for kept, anew, _ in nights:
        assert kept == anew


def test_only_what_has_other_evidence_is_reasoned_about_again(
    nights: list[tuple[list[Answer], list[Answer], int]],
) -> None:
    computed = [n for _, _, n in nights]
    assert computed[0] >= len(questions())
    assert computed[2] == 0
    assert all(0 < n < computed[0] for n in (computed[1], computed[3]))


def test_a_snapshot_of_a_night_before_answers_what_was_known_then(
    place: Nights, nights: list[tuple[list[Answer], list[Answer], int]]
) -> None:
    first, second, last = place.warehouse.snapshot_ids()
    for build_id, night in ((first, 0), (second, 1), (last, 3)):
        assert list(quern.answer(questions(), place.warehouse, snapshot=build_id)) == nights[night][1]


def test_the_difference_of_two_nights_is_exact_and_names_the_pages(
    nights: list[tuple[list[Answer], list[Answer], int]], tmp_path: Path, quern_here: Quern
) -> None:
    folders = [tmp_path / f"{n}" for n in range(4)]
    for folder, (kept, _, _) in zip(folders, nights, strict=True):
        write_answers(iter(kept), folder, "mills", {})
    assert list(differences(folders[1], folders[2])) == []
    for old, new in ((0, 1), (2, 3), (0, 3)):
        before, after = nights[old][0], nights[new][0]
        changed = {b.query_id for b, a in zip(before, after, strict=True) if b.answer != a.answer}
        found = list(differences(folders[old], folders[new]))
        assert {c.query_id for c in found} == changed
        for change in found:
            assert change.why == "evidence"
            assert {p.page.removeprefix("mill-").title() for p in change.pages} <= set(MILLS)
    printed = quern_here("answers", "diff", folders[0], folders[3])
    assert printed.returncode == 0
    assert f"{len(found)} answers changed" in printed.stdout
    assert "page, cited: mill-" in printed.stdout


def lamp(lit: int, page: str = "d", query_id: str = "q", question: str = "When was the lamp lit?") -> Answer:
    text = f"The lamp was lit in {lit}."
    place = {"doc_id": page, "chunk_id": f"{page}-0", "url": None, "title": None, "published_at": None}
    hit = {**place, "rank": 1, "score": 0.5, "start": 0, "end": len(text), "text": text}
    cited = {**place, "number": 1, "start": 0, "end": len(text), "quote": text}
    return Answer.model_validate(
        {
            "query_id": query_id,
            "question": question,
            "sentences": [{"text": text, "citations": [1]}],
            "probability": 0.9,
            "by": "rules",
            "recipe": "bridge",
            "citations": [cited],
            "hits": [hit],
            "path": [],
        }
    )


def changes(tmp_path: Path, old: list[Answer], new: list[Answer]) -> list[AnswerChange]:
    for name, answers in (("old", old), ("new", new)):
        write_answers(iter(answers), tmp_path / name, name, {})
    return list(differences(tmp_path / "old", tmp_path / "new"))


def test_each_cause_of_a_change_is_told(tmp_path: Path) -> None:
    (text,) = changes(tmp_path, [lamp(1871)], [lamp(1872)])
    assert (text.why, text.pages) == ("evidence", (PageChange("d", "changed", cited=True),))
    (other,) = changes(tmp_path, [lamp(1871)], [lamp(1872, "e")])
    assert [(p.page, p.what) for p in other.pages] == [("e", "new"), ("d", "gone")]
    same = lamp(1871).model_copy(update={"sentences": []})
    assert [(c.why, c.pages) for c in changes(tmp_path, [lamp(1871)], [same])] == [("settings", ())]
    asked = changes(tmp_path, [lamp(1871), lamp(1871, query_id="old")], [lamp(1871), lamp(1871, query_id="new")])
    assert [(c.query_id, c.before is None, c.after is None, c.why) for c in asked] == [
        ("new", True, False, "question"),
        ("old", False, True, "question"),
    ]


def test_a_folder_without_answers_is_an_error_that_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(DifferenceError, match=r"answer --out"):
        list(differences(tmp_path, tmp_path))
    (tmp_path / "answers.jsonl").write_text("{}\n")
    with pytest.raises(DifferenceError, match=r"answers\.jsonl:1: query_id"):
        list(differences(tmp_path, tmp_path))
