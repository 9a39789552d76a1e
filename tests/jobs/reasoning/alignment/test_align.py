import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, Match, align_task
from quern.jobs.reasoning.alignment.window import LONGEST
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.reasoning.runner import Reasoner
from quern.schemas.settings import GeneratorSettings
from tests.jobs.reasoning.generators.endpoint_server import MODEL, Endpoint, Said

PAGE = (
    "Port Maren has two piers. The new mole at Port Maren cost 9,000 crowns in 1907. "
    "It was built by Ann Lee, an engineer."
)
COST = "How many crowns did the new mole at Port Maren cost?"


def _input(question: str, text: str = PAGE, title: str | None = None, **more: Any) -> AlignInput:
    (found,) = parsed([question], "shallow")
    return AlignInput(found, Evidence(text, title, [], [], datetime(1910, 1, 1)), **more)


def _aligned(question: str, text: str = PAGE, title: str | None = None, **more: Any) -> Alignment:
    (done,) = Reasoner().run(align_task(), [_input(question, text, title, **more)])
    return done.output


def _said(alignment: Alignment, text: str = PAGE) -> list[tuple[str, str]]:
    return [(m.how, text[m.start : m.end]) for m in alignment.matches]


def test_a_chunk_that_says_all_of_a_question_in_one_place_is_fully_aligned() -> None:
    alignment = _aligned(COST)
    assert (alignment.label, alignment.share, alignment.graded) == ("full", 1.0, 1.0)
    assert _said(alignment) == [
        ("kind", "9,000 crowns"),
        ("stem", "new mole"),
        ("entity", "Port Maren"),
        ("stem", "cost"),
    ]


def test_what_a_chunk_lacks_or_says_far_away_is_no_match() -> None:
    assert _aligned("How many crowns did the old lighthouse at Port Maren cost?").label == "partial"
    assert _aligned("Who sang at the opera?", "Trams run to the harbour.").label == "none"
    apart = f"The new mole is long. {'It rains. ' * 60}Bread cost 3 crowns at Port Maren."
    alignment = _aligned(COST, apart)
    assert alignment.window is not None
    assert alignment.window[1] - alignment.window[0] <= LONGEST
    assert _said(alignment, apart) == [("kind", "3 crowns"), ("entity", "Port Maren"), ("stem", "cost")]


@pytest.mark.parametrize(
    ("question", "text", "how"),
    [
        ("Which crew had 12 men?", "A dozen men came.", "number"),
        ("What happened in May 1907?", "It burned on 3 May 1907.", "date"),
        ("Which harbours froze?", "A small harbour", "stem"),
    ],
)
def test_words_match_by_what_they_mean(question: str, text: str, how: str) -> None:
    assert how in [m.how for m in _aligned(question, text).matches]


def test_words_of_the_index_that_say_the_same_and_the_title_match_too() -> None:
    text = "The trawler went down."
    assert _aligned("Where was the smack?", text).label == "none"
    same = {"smack": frozenset({"trawler"})}
    assert _said(_aligned("Where was the smack?", text, synonyms=same), text) == [("synonym", "trawler")]
    titled = _aligned("Who built the mole?", "Ann Lee built it.", title="The mole")
    assert (titled.label, [m.how for m in titled.matches]) == ("full", ["kind", "stem", "title"])
    assert titled.graded < titled.share


@pytest.mark.parametrize("asked", ["LiHua", "Li Hua"])
def test_a_name_in_one_word_matches_with_all_its_parts(asked: str) -> None:
    text = "LiHua played chess."
    assert ("entity", "LiHua") in _said(_aligned(f"Where did {asked} play?", text), text)


def test_words_that_are_repeated_beyond_a_window_match_in_one() -> None:
    alignment = _aligned("Where is the old mole?", "The old mole. " * 40)
    assert alignment.window is not None
    assert 0 < alignment.window[1] - alignment.window[0] <= LONGEST


def test_a_sentence_longer_than_a_window_that_a_model_names_matches_every_part_it_is_named_for() -> None:
    given = _input("Who sailed to the isle?", f"She went there {'and there ' * 40}by boat.")
    named = [Match(constituent=n, sentence=1) for n in range(len(given.parsed.constituents))]
    checked = align_task().check(given, Alignment(matches=named))
    assert checked.good is not None
    assert checked.good.label == "full"


def test_what_a_model_said_of_a_chunk_is_remembered_with_the_characters_of_that_chunk_alone(tmp_path: Path) -> None:
    chunks = ["The mole is old.", "The  mole\nis old.", "<passage The mole is old."]
    with Endpoint(lambda *_: Said(json.dumps({"matches": [{"constituent": 1, "sentence": 1}]}))).running() as endpoint:
        model = GeneratorSettings(kind="openai", model=MODEL, url=endpoint.url, tries=1, timeout=5.0, retries=0)
        for _ in range(2):
            for text in chunks:
                with Reasoner(model, memo=tmp_path) as reasoner:
                    (done,) = reasoner.run(align_task(), [_input("Where is the mole?", text)])
                assert [text[m.start : m.end] for m in done.output.matches] == ["mole"]
    assert len(endpoint.asked) == len(chunks)


@pytest.mark.parametrize(
    ("question", "text", "why"),
    [
        ("Who repaired the mole?", "The council never repaired the mole.", "negated"),
        ("When did John Hale sail?", "In 1907 Mary Hale did sail.", "other_entity"),
        ("Who built the mole in 1907?", "Ann Lee built the mole in 1949.", "other_time"),
    ],
)
def test_reflection_takes_back_what_is_denied_or_of_another_thing_or_time(question: str, text: str, why: str) -> None:
    alignment = _aligned(question, text)
    assert why in [d.why for d in alignment.dropped]
    assert alignment.label != "full"


def test_a_question_without_a_word_of_content_has_no_constituents() -> None:
    for question in ("", "?", "is it", "\u200b"):
        assert (_aligned(question).label, _aligned(question).constituents) == ("none", 0)


@given(st.text(max_size=120), st.text(max_size=400), st.none() | st.text(max_size=40))
@example("When did 马伦港 open?", "马伦港 opened\u2028in 19\u200b07 | 马伦", "马")
@example(COST, "ſt. Port\x00 MAREN \ud83d cost 9,000\ncrowns", "İ")
def test_any_texts_give_spans_of_the_chunk_inside_one_window(question: str, text: str, title: str | None) -> None:
    alignment = _aligned(question, text, title)
    for match in alignment.matches:
        assert 0 <= match.start <= match.end <= len(text)
        assert match.how == "title" or match.start < match.end
    assert 0.0 <= alignment.graded <= 1.0
    assert len({m.constituent for m in alignment.matches}) == len(alignment.matches) <= alignment.constituents
    assert Alignment.model_validate_json(alignment.model_dump_json()) == alignment


def test_a_model_names_sentences_and_what_it_cannot_mean_is_left_to_the_rule() -> None:
    replies = {
        COST: [{"constituent": 0, "sentence": 2}, {"constituent": 3, "sentence": 2}],
        "Who built the mole?": [{"constituent": 7, "sentence": 1}],
        "Who built the harbour?": [{"constituent": 0, "sentence": 9}],
        "When did it cost so much?": [{"constituent": 1, "sentence": 2}] * 2,
    }

    def script(number: int, body: dict[str, Any]) -> Said:
        prompt = body["messages"][0]["content"]
        asked = prompt.split("Question: ")[1].split("\n")[0]
        assert "[2] The new mole at Port Maren cost 9,000 crowns in 1907." in prompt
        return Said(json.dumps({"matches": replies[asked]}))

    schema = Alignment.model_json_schema()
    assert list(schema["properties"]) == ["matches"]
    assert set(schema["$defs"]["Match"]["properties"]) == {"constituent", "sentence"}
    with Endpoint(script).running() as endpoint:
        model = GeneratorSettings(kind="openai", model=MODEL, url=endpoint.url, tries=1, timeout=5.0, retries=0)
        with Reasoner(model) as reasoner:
            done = reasoner.run(align_task(), [_input(q) for q in replies])
    assert [d.by for d in done] == ["openai", "rules", "rules", "rules"]
    assert [d.problems[0].reason for d in done[1:]] == ["no_such_part", "no_such_sentence", "named_twice"]
    assert _said(done[0].output) == [("kind", "9,000 crowns"), ("stem", "cost")]
    assert done[0].output.share == 0.5
