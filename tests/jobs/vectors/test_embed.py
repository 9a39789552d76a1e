"""Embeddings of texts."""

import json
import os
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from quern.indexes.memo import unnest
from quern.jobs.core.run import memoise
from quern.jobs.models.batches import PAD_TO
from quern.jobs.models.folders import DEFAULT_MODEL, ModelError, find_folder, read_model
from quern.jobs.models.machine import check_precision
from quern.jobs.models.openvino_runtime import openvino_file
from quern.jobs.vectors.embed import Embed
from quern.jobs.vectors.embedder import Embedder
from quern.schemas.contract.validate import validate
from quern.schemas.settings import EmbedSettings
from tests.tiny_models import write_tiny_embedder

WORDS = ["baker", "bread", "Alice", "house", "moved", "2026", "unbelievable", "北京", "street,", "why?", "river"]
RNG = random.Random(3)
TEXTS = [""] + [" ".join(RNG.choices(WORDS, k=k)) for k in (1, 2, 5, 8, 13, 14, 15, 21, 34, 55, 90, 600)]


def batch(*texts):
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], names=["text"])


PRECISIONS = ("f32", "bf16")


@cache
def load(precision, **others):
    """The default model in `precision`; where the processor lacks that the test is skipped."""
    settings = EmbedSettings(precision=precision, **others)
    try:
        check_precision(settings)
    except ModelError as error:
        pytest.skip(str(error))
    return Embedder.load(settings)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A function that makes a small random model of a kind and a pooling, and returns it and its folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import AutoTokenizer, BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

    kinds = {"bert": (BertConfig, BertModel), "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel)}

    def make(pooling, kind="bert"):
        folder = tmp_path_factory.mktemp(pooling)
        tokenizer = AutoTokenizer.from_pretrained(str(find_folder(DEFAULT_MODEL)))
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
        config, model_class = kinds[kind]
        # XLM-R counts positions from one past the padding id.
        places = {"max_position_embeddings": 40 if kind == "bert" else 41, "pad_token_id": 0, "initializer_range": 0.5}
        network = model_class(config(vocab_size=len(tokenizer), **places, **sizes))
        network.save_pretrained(folder / "network")
        tokenizer.save_pretrained(folder / "network")
        parts = [Transformer(str(folder / "network"), max_seq_length=40), Pooling(32, pooling_mode=pooling)]
        model = SentenceTransformer(modules=parts, device="cpu")
        model.save(str(folder / "model"))
        return model, str(folder / "model")

    return make


def check_batches(embedder, order, count, size):
    """That some texts in some order have the vectors that they have among all of them."""
    whole = embedder.encode(TEXTS)
    before = embedder.batching
    embedder.batching = replace(before, texts=size)
    try:
        part = embedder.encode([TEXTS[n] for n in order[:count]])
    finally:
        embedder.batching = before
    assert np.array_equal(part, whole[list(order[:count])])


@pytest.mark.parametrize("precision", PRECISIONS)
@settings(max_examples=5)
@given(st.permutations(range(len(TEXTS))), st.integers(1, len(TEXTS)), st.sampled_from([1, 2, 5, 32]))
def test_a_vector_does_not_depend_on_its_batch(precision, order, count, size):
    check_batches(load(precision), order, count, size)


@pytest.mark.torch
def test_nor_does_it_with_torch(tiny):
    embedder = Embedder.load(EmbedSettings(model=tiny("mean")[1], engine="torch"))
    for size in (1, 2, 5, 32):
        check_batches(embedder, RNG.sample(range(len(TEXTS)), k=len(TEXTS)), len(TEXTS) - size % 4, size)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_openvino_gives_the_same_bits_on_one_thread_and_two(precision):
    one, two = (load(precision, threads=n).encode(TEXTS) for n in (1, 2))
    assert np.array_equal(one, two)


def test_a_processor_with_fewer_instructions_gives_the_same_vectors_up_to_the_seventh_digit(tmp_path):
    code = (
        "import json, sys, numpy; from quern.jobs.vectors.embedder import Embedder;"
        "from quern.schemas.settings import EmbedSettings;"
        "numpy.save(sys.argv[1], Embedder.load(EmbedSettings()).encode(json.loads(sys.argv[2])))"
    )
    command = [sys.executable, "-c", code, tmp_path / "avx.npy", json.dumps(TEXTS)]
    subprocess.run(command, env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX"}, check=True)
    assert np.load(tmp_path / "avx.npy") == pytest.approx(Embedder.load(EmbedSettings()).encode(TEXTS), abs=1e-6)


def test_a_text_is_padded_to_its_own_length_and_calls_are_small(monkeypatch):
    embedder, calls = Embedder.load(EmbedSettings()), []
    monkeypatch.setattr(embedder, "_runner", SimpleNamespace(run=lambda made, _: calls.extend(made)))
    embedder.encode(["word " * n for n in (6, 7, 300, 400)] + ["word"] * 40)
    shapes = [call.ids.shape for call in calls]
    assert shapes == [(1, 408), (1, 304), (1, 16), (32, 8), (9, 8)]
    assert all((call.mask.sum(axis=1) > call.ids.shape[1] - PAD_TO).all() for call in calls)


@pytest.mark.torch
@pytest.mark.parametrize(("precision", "least"), [("f32", 0.99999), ("bf16", 0.9999)])
def test_vectors_have_length_one_and_are_close_to_those_of_sentence_transformers(precision, least):
    whole = [text for text in TEXTS if text]
    made = load(precision).encode(whole)
    assert made.dtype == np.float32
    assert np.linalg.norm(made, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert (made * reference_vectors(tuple(whole))).sum(axis=1).min() > least


@cache
def reference_vectors(texts):
    """Vectors of sentence-transformers in fp32."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_folder(DEFAULT_MODEL)), device="cpu")
    model.max_seq_length = 512
    return model.encode(list(texts), normalize_embeddings=True)


def test_questions_are_embedded_in_f32():
    bf16 = EmbedSettings(device="cpu", precision="bf16")
    assert np.array_equal(Embedder.for_questions(bf16).encode(TEXTS), load("f32").encode(TEXTS))


def test_no_texts_give_no_vectors():
    assert Embedder.load(EmbedSettings()).encode([]).shape == (0, 384)


@pytest.mark.torch
@pytest.mark.parametrize(("pooling", "kind"), [("cls", "bert"), ("mean", "bert"), ("cls", "xlm-roberta")])
def test_a_model_by_path_agrees_with_sentence_transformers(tiny, pooling, kind):
    reference, folder = tiny(pooling, kind)
    own = Embedder.load(EmbedSettings(model=folder, engine="torch"))
    assert own.capacity == 38
    assert (own.encode(TEXTS) * reference.encode(TEXTS, normalize_embeddings=True)).sum(axis=1).min() > 0.9999


@pytest.mark.torch
def test_a_gpu_that_is_not_there_is_told(tiny):
    _, folder = tiny("cls")
    with pytest.raises(ModelError, match=r"embed.device cuda:99: torch .* finds"):
        Embedder.load(EmbedSettings(model=folder, engine="torch", device="cuda:99"))


@pytest.mark.parametrize("engine", ["openvino", pytest.param("torch", marks=pytest.mark.torch)])
def test_broken_weights_are_a_fault_of_the_model_not_of_a_row(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("QUERN_CACHE", str(tmp_path / "cache"))
    folder = write_tiny_embedder(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match=r"cannot be (loaded|converted|read)"):
        Embed(EmbedSettings(model=str(folder), engine=engine)).apply(batch("a"))


def test_a_model_of_another_dimension_shares_nothing_with_the_memo(run, tmp_path):
    texts = SimpleNamespace(rows=1, batches=lambda columns=None, rows=0: iter([batch("one and the same text")]))
    widths = []
    for size in (32, 64):
        job = Embed(EmbedSettings(model=str(write_tiny_embedder(tmp_path / f"{size}", size=size))))
        results = memoise(job, texts, run).results(0, 1)
        widths.append(unnest(results, "rows")[0].schema.field("vector").type.list_size)
    assert widths == [32, 64]
    assert len(list((run.memo / "embed").iterdir())) == 2


def test_processes_that_start_together_convert_a_model_once_and_rightly(tmp_path, monkeypatch):
    folder, settings = write_tiny_embedder(tmp_path / "model"), EmbedSettings(model=str(tmp_path / "model"))
    expected = Embedder.load(settings).encode(TEXTS)
    monkeypatch.setenv("QUERN_CACHE", str(tmp_path / "cache"))
    code = (
        "import sys; from quern.jobs.vectors.embedder import prepare; from quern.schemas.settings import EmbedSettings;"
        "prepare(EmbedSettings(model=sys.argv[1]))"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(folder)]) for _ in range(2)]
    assert [p.wait() for p in both] == [0, 0]
    made = {p for p in (tmp_path / "cache" / "openvino").iterdir() if p.is_dir()}
    assert made == {openvino_file(read_model(str(folder))).parent}
    # Other threads make another runner, which loads what was converted just now.
    assert np.array_equal(Embedder.load(settings.model_copy(update={"threads": 2})).encode(TEXTS), expected)


def test_a_text_too_long_for_the_model_shows_in_its_token_count():
    job = Embed(EmbedSettings(max_tokens=16))
    made = job.apply(batch("word " * 14, "word " * 15, ""))
    assert made.rows.column("tokens").to_pylist() == [14, 15, 0]
    assert job.capacity == 14
    vectors = made.rows.column("vector").to_pylist()
    assert vectors[0] == vectors[1]


def test_the_job_makes_valid_rows_for_each_text():
    job = Embed(EmbedSettings())
    made = job.apply(batch(*TEXTS))
    assert validate(made.rows, job.makes).num_rows == len(TEXTS)
    assert made.parents.tolist() == list(range(len(TEXTS)))
    assert not made.rejects


def test_a_vector_that_is_not_finite_is_rejected(tmp_path):
    folder = write_tiny_embedder(tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][7592] = float("nan")  # the token `hello`
    save_file(weights, folder / "model.safetensors")
    made = Embed(EmbedSettings(model=str(folder))).apply(batch("good day", "hello", "bread"))
    assert made.parents.tolist() == [0, 2]
    assert [(r.row, r.reason) for r in made.rejects] == [(1, "not_finite")]


def test_batch_and_threads_do_not_enter_the_fingerprint():
    job = Embed(EmbedSettings())
    assert Embed(EmbedSettings(batch=1, threads=1)).fingerprint() == job.fingerprint()
    assert Embed(EmbedSettings(max_tokens=128)).fingerprint() != job.fingerprint()
    assert Embed(EmbedSettings(precision="bf16")).fingerprint() != job.fingerprint()
    assert pickle.loads(pickle.dumps(job)).fingerprint() == job.fingerprint()  # noqa: S301
