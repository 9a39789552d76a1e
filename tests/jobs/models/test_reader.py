"""The trained reader: what it says of lines, and that it says the same each time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from quern.jobs.models import reader as reader_module
from quern.jobs.models.bert import token_graph
from quern.jobs.models.folders import DEFAULT_MODEL, ModelError, load_tokenizer, read_model
from quern.jobs.models.machine import has_bf16
from quern.jobs.models.reader import FILE, FORMAT, WINDOW, Passage, Reader, Tokens, best_span, lay_out
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.settings import EmbedSettings

FERRY = Passage(
    "Harbour news (2024-03-14)",
    [
        "The ferry Gannet was built in 1971 and carries 240 people.",
        "In March she lost a propeller off Tern Head and was towed home.",
        "The yard asked 84,000 crowns for a new one.",
        "Her master, Ines Okafor, has been with the line for thirty years.",
    ],
)


@pytest.mark.parametrize(
    ("question", "words"),
    [("Who commands the boat?", "Ines Okafor"), ("How many passengers fit on the vessel?", "240")],
)
def test_the_likeliest_line_answers_in_other_words_and_has_the_words_that_answer(question: str, words: str) -> None:
    (lines,) = Reader.load().read(question, [FERRY]).lines
    line, text = max(zip(lines, FERRY.lines, strict=True), key=lambda pair: pair[0].odds if pair[0] else -np.inf)
    assert line is not None
    assert words in text[line.start : line.end]
    assert len(text[line.start : line.end].split()) < len(text.split())
    assert 0.0 < line.sure <= 1.0


@pytest.mark.parametrize(
    ("question", "kind"),
    [("Who commands the boat?", "span"), ("Was she built in 1971?", "verdict")],
)
def test_the_kind_of_answer_is_known_by_the_question_alone(question: str, kind: str) -> None:
    kinds = Reader.load().read(question, []).kinds
    assert max(kinds, key=kinds.__getitem__) == kind
    assert sum(kinds.values()) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "line", "yes"),
    [
        ("Was the ferry Gannet built in 1971?", 0, True),
        ("Was the ferry Gannet built in 1985?", 0, False),
        ("Did she lose her propeller off Tern Head?", 1, True),
    ],
)
def test_a_line_alone_says_yes_or_no(question: str, line: int, yes: bool) -> None:
    passage = Passage(FERRY.title, FERRY.lines[max(0, line - 1) : line + 1])
    decided = Reader.load().read(question, [passage]).lines[0][-1]
    assert decided is not None
    assert (decided.yes > 0) == yes


def test_a_reading_does_not_depend_on_what_was_read_before() -> None:
    reader = Reader.load()
    first = reader.read("Who commands the boat?", [FERRY])
    reader.read("What does it cost?", [Passage("", ["x " * 300])])
    assert Reader().read("Who commands the boat?", [FERRY]) == first


def test_the_reader_reads_the_same_words_in_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "has_bf16", lambda: False)
    with pytest.raises(ModelError, match=r"answer\.precision bf16: this processor has no bf16"):
        Reader(precision="bf16")
    monkeypatch.undo()
    if not has_bf16():
        pytest.skip("the processor has no bf16")
    whole, half = Reader.load(), Reader.load("bf16")
    assert whole.fingerprint != half.fingerprint
    for one, other in zip(*(r.read("Who commands the boat?", [FERRY]).lines[0] for r in (whole, half)), strict=True):
        assert one is not None
        assert other is not None
        assert other.odds == pytest.approx(one.odds, abs=0.3)
        assert (other.start, other.end) == (one.start, one.end)


def test_a_reading_does_not_depend_on_the_number_of_threads() -> None:
    code = (
        "from quern.jobs.models.reader import Reader, Passage;"
        "print(Reader().read('Who owns it?', [Passage('', ['Ines Okafor owns the yard.', 'It is old.'])]))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": threads}, stdout=subprocess.PIPE
        )
        for threads in "12"
    ]
    one, two = (process.communicate()[0] for process in processes)
    assert one == two != b""


def test_windows_that_are_read_together_are_read_as_each_alone() -> None:
    reader = Reader.load()
    questions = [f"What did the repair number {n} cost?" for n in range(12)]
    begun = [reader.begin(question, [FERRY]) for question in questions]
    assert [wait() for wait in begun] == [reader.read(question, [FERRY]) for question in questions]


def test_lines_without_room_or_words_are_unread() -> None:
    long = Passage("A long page", [f"Sentence {n} says that the mill ground {n} sacks of rye." for n in range(40)])
    reading = Reader.load().read("How many sacks?", [Passage("", ["", "\u200b", "Nine sacks."]), long])
    assert reading.lines[0][:2] == [None, None]
    assert reading.lines[0][2] is not None
    assert reading.lines[1][-1] is None
    assert Reader.load().read("", []).lines == []


def test_a_question_and_lines_of_any_length_are_cut_to_a_window() -> None:
    tokenizer = load_tokenizer(read_model(DEFAULT_MODEL))

    def tokens(text: str) -> Tokens:
        encoded = tokenizer.encode(text, add_special_tokens=False)
        return Tokens(encoded.ids, encoded.offsets)

    passages = [Passage("title " * 900, ["word " * 900] * 50)] * 9
    window = lay_out("why " * 5000, passages, tokenizer.encode("").ids, tokens)
    assert len(window.ids) <= WINDOW
    assert window.places[0][0] is not None


def test_the_best_span_ends_behind_its_start_and_is_not_too_long() -> None:
    marks = np.zeros((60, 2))
    marks[50, 0] = marks[3, 1] = 9.0  # The likeliest end stands before the likeliest start.
    start, end, sure = best_span(marks)
    assert start <= end < start + 40
    assert 0.0 < sure < 1.0


def test_a_model_that_loads_beside_other_work_reads_and_embeds_the_same() -> None:
    ahead = Reader()
    ahead.prepare()
    assert ahead.read("Who commands the boat?", [FERRY]) == Reader.load().read("Who commands the boat?", [FERRY])
    settings = EmbedSettings(precision="f32")
    model = read_model(DEFAULT_MODEL)
    embedder = Embedder(settings, model, load_tokenizer(model))
    embedder.prepare()
    assert (embedder.encode(["The ferry"]) == Embedder.load(settings).encode(["The ferry"])).all()


def test_weights_of_another_model_are_refused() -> None:
    other = {"encoder.layer.0.output.dense.weight": np.zeros((768, 768), dtype=np.float32)}
    with pytest.raises(ModelError, match="it is another model"):
        token_graph(read_model(DEFAULT_MODEL), other)


def test_a_file_that_is_missing_damaged_or_of_another_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.safetensors cannot be read"):
        Reader(tmp_path / "none.safetensors")
    (tmp_path / "cut.safetensors").write_bytes(FILE.read_bytes()[:5000])
    with pytest.raises(ModelError, match=r"cut\.safetensors is damaged"):
        Reader(tmp_path / "cut.safetensors").read("Who?", [FERRY])
    old = {name: values for name, values in load_file(FILE).items() if name != FORMAT}
    save_file(old, tmp_path / "old.safetensors")
    with pytest.raises(ModelError, match=f"not of the format {FORMAT}"):
        Reader(tmp_path / "old.safetensors").read("Who?", [FERRY])
