"""Embeddings of texts."""

import pickle
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.embed import Embed, Embedder, openvino_file, prepare
from jobs.models import DEFAULT_MODEL, find_folder, read_model
from schemas.groups import EmbedSettings
from schemas.validate import validate

WORDS = ["baker", "bread", "Alice", "house", "moved", "2026", "unbelievable", "北京", "street,", "why?", "river"]
RNG = random.Random(3)
TEXTS = [""] + [" ".join(RNG.choices(WORDS, k=k)) for k in (1, 2, 5, 8, 13, 14, 15, 21, 34, 55, 90, 600)]


def batch(*texts):
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], names=["text"])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A function that makes a small random model with the given pooling, and returns it and its folder."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import AutoTokenizer, BertConfig, BertModel

    def make(pooling):
        folder = tmp_path_factory.mktemp(pooling)
        tokenizer = AutoTokenizer.from_pretrained(str(find_folder(DEFAULT_MODEL)))
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
        bert = BertModel(
            BertConfig(vocab_size=len(tokenizer), max_position_embeddings=40, initializer_range=0.5, **sizes)
        )
        bert.save_pretrained(folder / "bert")
        tokenizer.save_pretrained(folder / "bert")
        parts = [Transformer(str(folder / "bert"), max_seq_length=40), Pooling(32, pooling_mode=pooling)]
        model = SentenceTransformer(modules=parts, device="cpu")
        model.save(str(folder / "model"))
        return model, str(folder / "model")

    return make


@pytest.mark.parametrize("precision", ["f32", "auto"])
@settings(max_examples=6, deadline=None)
@given(st.permutations(range(len(TEXTS))), st.integers(1, len(TEXTS)), st.sampled_from([1, 2, 5, 32]))
def test_a_vector_does_not_depend_on_its_batch(precision, order, count, size):
    whole = Embedder.load(EmbedSettings(precision=precision)).encode(TEXTS)
    one = Embedder.load(EmbedSettings(precision=precision))
    one._batch, before = size, one._batch
    try:
        part = one.encode([TEXTS[n] for n in order[:count]])
    finally:
        one._batch = before
    assert np.array_equal(part, whole[list(order[:count])])


@pytest.mark.parametrize("precision", ["f32", "auto"])
def test_openvino_gives_the_same_bits_on_one_thread_and_two(precision):
    one, two = (Embedder.load(EmbedSettings(precision=precision, threads=n)).encode(TEXTS) for n in (1, 2))
    assert np.array_equal(one, two)


def test_vectors_have_length_one_and_bf16_is_close_to_f32():
    full = Embedder.load(EmbedSettings(precision="f32")).encode(TEXTS)
    auto = Embedder.load(EmbedSettings()).encode(TEXTS)
    assert full.dtype == np.float32
    assert np.linalg.norm(full, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert (full * auto).sum(axis=1).min() > 0.999


def test_no_texts_give_no_vectors():
    assert Embedder.load(EmbedSettings()).encode([]).shape == (0, 384)


@pytest.mark.parametrize("pooling", ["cls", "max", "mean"])
def test_a_model_by_path_agrees_with_sentence_transformers(tiny, pooling):
    reference, folder = tiny(pooling)
    own = Embedder.load(EmbedSettings(model=folder, engine="torch"))
    assert own.capacity == 38
    assert (own.encode(TEXTS) * reference.encode(TEXTS, normalize_embeddings=True)).sum(axis=1).min() > 0.9999


def test_processes_that_start_together_convert_a_model_once_and_rightly(tiny, tmp_path, monkeypatch):
    reference, folder = tiny("cls")
    monkeypatch.setenv("QUERN_CACHE", str(tmp_path))
    code = (
        "import sys; from jobs.embed import prepare; from schemas.groups import EmbedSettings;"
        "prepare(EmbedSettings(model=sys.argv[1]))"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, folder]) for _ in range(2)]
    assert [p.wait() for p in both] == [0, 0]
    made = [p for p in (tmp_path / "openvino").iterdir() if p.is_dir()]
    assert made == [openvino_file(read_model(folder)).parent]
    own = Embedder.load(EmbedSettings(model=folder, precision="f32"))
    assert (own.encode(TEXTS) * reference.encode(TEXTS, normalize_embeddings=True)).sum(axis=1).min() > 0.9999


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


def test_a_vector_that_is_not_finite_is_rejected(tiny):
    import safetensors.torch

    _, folder = tiny("cls")
    file = f"{folder}/model.safetensors"
    weights = safetensors.torch.load_file(file)
    name = next(n for n in weights if n.endswith("word_embeddings.weight"))
    weights[name][7592] = float("nan")  # the token `hello`
    safetensors.torch.save_file(weights, file, metadata={"format": "pt"})
    made = Embed(EmbedSettings(model=folder, engine="torch")).apply(batch("good day", "hello", "bread"))
    assert made.parents.tolist() == [0, 2]
    assert [(r.row, r.reason) for r in made.rejects] == [(1, "not_finite")]


def test_batch_and_threads_do_not_enter_the_fingerprint():
    job = Embed(EmbedSettings())
    assert Embed(EmbedSettings(batch=1, threads=1)).fingerprint() == job.fingerprint()
    assert Embed(EmbedSettings(max_tokens=128)).fingerprint() != job.fingerprint()
    assert Embed(EmbedSettings(engine="torch")).fingerprint() != job.fingerprint()
    assert pickle.loads(pickle.dumps(job)).fingerprint() == job.fingerprint()  # noqa: S301


def test_auto_precision_is_resolved_before_a_job_travels():
    assert Embed(EmbedSettings()).settings.precision in ("f32", "bf16")


def test_a_worker_needs_no_torch_once_the_model_is_converted():
    prepare(EmbedSettings())
    code = (
        "import sys; from jobs.embed import Embedder; from schemas.groups import EmbedSettings;"
        "Embedder.load(EmbedSettings()).encode(['a']); print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False False\n"
