"""The trained reader: what it tells of lines, and that it is the same each time."""

import os
import subprocess
import sys

import numpy as np
import pytest

from quern.jobs.models.batches import Batching
from quern.jobs.models.bert import token_graph
from quern.jobs.models.folders import DEFAULT_MODEL, ModelError, load_tokenizer, read_model
from quern.jobs.models.line_reader import OF_VERDICTS, LineReader, Passage, lay
from quern.jobs.models.precision import import_openvino
from quern.jobs.vectors.embed import Embedder
from quern.schemas.settings import EmbedSettings

FERRY = Passage(
    "Harbour news",
    [
        "The ferry Gannet was built in 1971 and carries 240 people.",
        "In March she lost a propeller off Tern Head and was towed home.",
        "The yard asked 84,000 crowns for a new one.",
        "Her master, Ines Okafor, has been with the line for thirty years.",
    ],
)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who commands the boat?", 3),
        ("What did the repair cost?", 2),
        ("How many passengers fit on the vessel?", 0),
        ("What accident happened to her at sea in spring?", 1),
    ],
)
def test_the_line_that_answers_in_other_words_is_the_likeliest(question: str, line: int) -> None:
    (odds,) = LineReader.load().read(question, [FERRY]).lines
    assert int(np.argmax(np.array(odds, dtype=float))) == line


def test_what_nothing_answers_is_mostly_likelier_answered_by_none() -> None:
    reader = LineReader.load()
    answered = ("Who commands the boat?", "What did the repair cost?", "Where did she lose the propeller?")
    unanswered = ("How old is Ines Okafor?", "How long is the ferry?", "What does a ticket cost in winter?")
    least = [[reader.read(q, [FERRY]).none for q in questions] for questions in (answered, unanswered)]
    assert max(least[0]) < min(least[1])


def test_probabilities_of_the_lines_add_up_to_one_over_all_passages() -> None:
    other = Passage("The library", ["It opens at nine.", "Membership is free."])
    read = LineReader.load().read("When does the library open?", [FERRY, other])
    odds = [value for of in read.lines for value in of if value is not None]
    assert sum(np.exp(odds)) == pytest.approx(1.0, abs=1e-4)
    assert max(odds) == read.lines[1][0]


def test_a_reading_does_not_depend_on_what_was_read_before() -> None:
    reader = LineReader.load()
    first = reader.read("Who commands the boat?", [FERRY])
    reader.read("What does it cost?", [Passage("", ["x " * 300])])
    assert (
        LineReader().read("Who commands the boat?", [FERRY]) == reader.read("Who commands the boat?", [FERRY]) == first
    )


def test_a_reading_does_not_depend_on_the_number_of_threads() -> None:
    code = (
        "from quern.jobs.models.line_reader import LineReader, Passage;"
        "print(LineReader().read('Who owns it?', [Passage('', ['Ines Okafor owns the yard.', 'It is old.'])]))"
    )
    told = [
        subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": threads}, stdout=subprocess.PIPE
        )
        for threads in "12"
    ]
    one, two = (process.communicate()[0] for process in told)
    assert one == two != b""


def test_readings_that_were_begun_together_are_those_of_each_alone() -> None:
    reader = LineReader.load()
    questions = [f"What did the repair number {n} cost?" for n in range(12)]
    begun = [reader.begin(question, [FERRY]) for question in questions]
    assert [wait() for wait in begun] == [reader.read(question, [FERRY]) for question in questions]


@pytest.mark.parametrize(
    ("question", "line", "yes"),
    [
        ("Was the ferry Gannet built in 1971?", 0, True),
        ("Was the ferry Gannet built in 1985?", 0, False),
        ("Did she lose her propeller off Tern Head?", 1, True),
        ("Did she come home under her own power?", 1, False),
        ("Did the yard give her a propeller for nothing?", 2, False),
        ("Has the captain worked there for long?", 3, True),
    ],
)
def test_the_reader_of_verdicts_tells_yes_from_no(question: str, line: int, yes: bool) -> None:
    passage = Passage(FERRY.title, FERRY.lines[max(0, line - 1) : line + 1])
    assert (LineReader.load(OF_VERDICTS).says_yes(question, passage) > 0) == yes


def test_a_line_without_words_says_neither_yes_nor_no() -> None:
    assert LineReader.load(OF_VERDICTS).says_yes("Is it open?", Passage("The gate", ["It is shut.", "\u200b"])) == 0.0


def test_lines_without_room_or_words_are_told_of_as_unread() -> None:
    long = Passage(
        "A long page", [f"Sentence {n} says that the mill at Ostrow ground {n} sacks of rye." for n in range(40)]
    )
    read = LineReader.load().read("How many sacks?", [Passage("", ["", "\u200b", "Nine sacks."]), long])
    assert read.lines[0][0] is None
    assert read.lines[0][2] is not None
    assert read.lines[1][-1] is None
    assert LineReader.load().read("How many sacks?", [Passage("", [])]).none == np.inf
    assert LineReader.load().read("", []).lines == []


def test_a_question_and_lines_of_any_length_are_cut_to_what_the_model_reads() -> None:
    tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))
    laid = lay(
        "why " * 5000,
        [Passage("title " * 900, ["word " * 900] * 50)] * 9,
        tokenizer,
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
    )
    assert len(laid.ids) <= 408
    assert laid.places[0][0] is not None


def test_without_changes_its_encoder_is_that_of_the_embedder() -> None:
    """The mean of its tokens' vectors is the embedding, so what is read is what the weights say."""
    model = read_model(DEFAULT_MODEL)
    properties = {"INFERENCE_PRECISION_HINT": "f32"}
    run = import_openvino().Core().compile_model(token_graph(model, {}), "CPU", properties)
    text = "The ferry Gannet was built in 1971."
    (call,) = Batching(1, 512, None, model.pad_id).calls([load_tokenizer(model).encode(text).ids])
    hidden = run({"input_ids": call.ids, "attention_mask": call.mask})[0][0]
    mean = hidden[call.mask[0] == 1].mean(axis=0)
    embedded = Embedder.load(EmbedSettings(precision="f32")).encode([text])[0]
    assert np.allclose(mean / np.linalg.norm(mean), embedded, atol=1e-5)


def test_changes_of_another_model_are_refused() -> None:
    with pytest.raises(ModelError, match="it is another model"):
        token_graph(
            read_model(DEFAULT_MODEL), {"encoder.layer.0.output.dense.weight": np.zeros((768, 768), dtype=np.float32)}
        )
