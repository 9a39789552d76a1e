import json
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from quern.jobs.reasoning.alignment.constituents import MOST_CONSTITUENTS, parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, align_task
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.tasks.runner import Reasoner
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said

PAGE = (
    "Port Maren has two piers. The new mole at Port Maren cost 9,000 crowns in 1907. "
    "It was built by Ann Lee, an engineer."
)
COST = "How many crowns did the new mole at Port Maren cost?"


def _input(question: str, text: str = PAGE, title: str | None = None) -> AlignInput:
    return AlignInput(parsed(question), Evidence(text, title, [], []))


def _aligned(question: str, text: str = PAGE, title: str | None = None) -> Alignment:
    (done,) = Reasoner().run(align_task(), [_input(question, text, title)])
    return done.output


def _said(alignment: Alignment, text: str = PAGE) -> list[str]:
    return [text[m.start : m.end] for m in alignment.matches]


@given(st.text(max_size=300))
@example("The keeper wrote of the lamp. " * 40)
def test_constituents_of_any_text_are_its_words_in_order_and_apart(text: str) -> None:
    found, ends = parsed(text).constituents, 0
    assert len(found) <= MOST_CONSTITUENTS
    for c in found:
        assert text[c.start : c.end] == c.text
        assert c.start >= ends
        ends = c.end


def test_a_chunk_is_aligned_by_the_phrases_of_a_question_that_it_says_in_one_place() -> None:
    alignment = _aligned(COST)
    assert (alignment.label, alignment.share) == ("full", 1.0)
    assert _said(alignment) == ["crowns", "new mole", "Port Maren", "cost"]
    assert _aligned("How many crowns did the old lighthouse at Port Maren cost?").label == "partial"
    assert _aligned("Who sang at the opera?").label == "none"
    apart = f"The new mole is long. {'It rains. ' * 60}Bread cost 3 crowns at Port Maren."
    assert _said(_aligned(COST, apart), apart) == ["crowns", "Port Maren", "cost"]


def test_what_the_title_says_needs_no_match_in_the_window() -> None:
    titled = _aligned("Who built the mole?", "Ann Lee built it.", title="The mole")
    assert (titled.label, [m.how for m in titled.matches]) == ("full", ["words", "title"])


def test_what_a_model_said_of_a_chunk_is_remembered_with_the_characters_of_that_chunk_alone(tmp_path: Path) -> None:
    chunks = ["The mole is old.", "The  mole\nis old.", "<passage The mole is old."]
    with Endpoint(lambda *_: Said(json.dumps({"matches": [{"constituent": 0, "sentence": 1}]}))).running() as endpoint:
        for _ in range(2):
            for text in chunks:
                with Reasoner(endpoint.generator(retries=0), memo=tmp_path) as reasoner:
                    (done,) = reasoner.run(align_task(), [_input("Where is the mole?", text)])
                assert [text[m.start : m.end] for m in done.output.matches] == ["mole"]
    assert len(endpoint.asked) == len(chunks)


@given(st.text(max_size=120), st.text(max_size=400), st.none() | st.text(max_size=40))
@example("When did 马伦港 open?", "马伦港 opened\u2028in 19\u200b07 | 马伦", "马")
@example(COST, "ſt. Port\x00 MAREN \ud83d cost 9,000\ncrowns", "İ")
def test_any_texts_give_spans_of_the_chunk_inside_one_window(question: str, text: str, title: str | None) -> None:
    alignment = _aligned(question, text, title)
    for match in alignment.matches:
        assert 0 <= match.start <= match.end <= len(text)
        assert match.how == "title" or match.start < match.end
        if alignment.window:
            assert alignment.window[0] <= match.start <= match.end <= alignment.window[1]
    assert len({m.constituent for m in alignment.matches}) == len(alignment.matches) <= alignment.constituents
    assert Alignment.model_validate_json(alignment.model_dump_json()) == alignment


def test_a_model_names_sentences_and_what_it_cannot_mean_is_left_to_the_rule() -> None:
    replies = {
        COST: [{"constituent": 0, "sentence": 2}, {"constituent": 3, "sentence": 2}],
        "Who built the mole?": [{"constituent": 7, "sentence": 1}],
        "Who built the harbour?": [{"constituent": 0, "sentence": 9}],
        "When did Port Maren pay for it?": [{"constituent": 1, "sentence": 2}] * 2,
        "Who made the breakwater?": [{"constituent": 0, "sentence": 3}, {"constituent": 1, "sentence": 2}],
    }

    def script(number: int, body: dict[str, Any]) -> Said:
        prompt = body["messages"][0]["content"]
        asked = prompt.split("Question: ")[1].split("\n")[0]
        assert "[2] The new mole at Port Maren cost 9,000 crowns in 1907." in prompt
        return Said(json.dumps({"matches": replies[asked]}))

    schema = Alignment.model_json_schema()
    assert list(schema["properties"]) == ["matches"]
    assert set(schema["$defs"]["Match"]["properties"]) == {"constituent", "sentence"}
    with Endpoint(script).running() as endpoint, Reasoner(endpoint.generator(retries=0)) as reasoner:
        done = reasoner.run(align_task(), [_input(q) for q in replies])
    assert [d.by for d in done] == ["openai", "rules", "rules", "rules", "openai"]
    assert [d.problems[0].reason for d in done[1:4]] == ["no_such_part", "no_such_sentence", "named_twice"]
    assert _said(done[0].output) == ["crowns", "cost"]
    # In other words: the whole sentence is what matches.
    assert _said(done[4].output)[1] == "The new mole at Port Maren cost 9,000 crowns in 1907."
    assert done[4].output.label == "full"
