"""A BERT encoder and its pooling as an OpenVINO graph, written from the weights alone: torch is not needed for it.

The graph has the operations that `openvino.convert_model` makes of transformers' `BertModel` and of `.pooling`, in
their order, so its vectors are those, bit for bit (a test compares them). Whatever is not plainly such a BERT is left
to torch.

Source: Devlin et al., BERT, arXiv 1810.04805, 3; the encoder is Vaswani et al., arXiv 1706.03762, 3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from quern.jobs.models.folders import Model, ModelError, Pooling
from quern.jobs.models.machine import import_openvino

Weights = Mapping[str, npt.NDArray[np.float32]]
# What a graph gives: a vector per text, scores of a pair of texts, or a vector per token.
Head = Pooling | Literal["pair"] | None

# The configuration of the encoders that this module writes; what a file does not say is as here.
_PLAIN = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}
# Kinds of numbers that safetensors writes and numpy has; bf16 and those of 8 bits it has not.
_KINDS = frozenset({"F64", "F32", "F16", "I64", "I32", "I16", "I8", "U8", "BOOL"})
# Names that checkpoints of the first BERTs have.
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}


def is_plain_bert(model: Model) -> bool:
    """Whether `model` is a BERT whose weights lie in one file of safetensors, as numbers that numpy has.

    Raises:
        ModelError: That file is none of safetensors.
    """
    config = json.loads((model.transformer / "config.json").read_text("utf-8"))
    plain = config.get("model_type") == "bert" and all(config.get(key, value) == value for key, value in _PLAIN.items())
    files = list(model.transformer.glob("*.safetensors"))
    if not plain or len(files) != 1:
        return False
    with _opened(files[0]) as file:
        return all(file.get_slice(name).get_dtype() in _KINDS for name in file.keys())  # noqa: SIM118


def convert(model: Model, file: Path) -> None:
    """Write `model` in float32 as OpenVINO's `file` (.xml) and the .bin beside it.

    Raises:
        ModelError: The weights cannot be read, or some are missing.
    """
    config = json.loads((model.transformer / "config.json").read_text("utf-8"))
    weights = _read(next(model.transformer.glob("*.safetensors")))
    graph = _graph(model, weights, config, model.pooling)
    import_openvino().save_model(graph, file, compress_to_fp16=False)


def token_graph(model: Model, trained: Weights) -> Any:
    """A graph like that of `convert` that gives a vector for each token, (n, tokens, d).

    Weights that are `trained` take the place of its own, by their names within the encoder.

    Raises:
        ModelError: The weights cannot be read, some are missing, or trained ones are of another shape.
    """
    config = json.loads((model.transformer / "config.json").read_text("utf-8"))
    weights = dict(_read(next(model.transformer.glob("*.safetensors"))))
    for name, values in trained.items():
        if name not in weights or weights[name].shape != values.shape:
            raise ModelError(f"model {model.folder} has no {name} of shape {values.shape}: it is another model")
    return _graph(model, weights | dict(trained), config, None)


def pair_graph(model: Model) -> Any:
    """A graph of a cross-encoder, transformers' `BertForSequenceClassification`: scores of each class, (n, classes).

    Beside the inputs of `convert` it takes `token_type_ids`: 0 for the question, 1 for the passage.

    Raises:
        ModelError: The weights cannot be read, or some are missing.
    """
    config = json.loads((model.transformer / "config.json").read_text("utf-8"))
    return _graph(model, _read(next(model.transformer.glob("*.safetensors"))), config, "pair")


def token_embeddings(model: Model) -> npt.NDArray[np.float32]:
    """The embeddings of a plain BERT's tokens without their context, shape (vocabulary, d).

    Raises:
        ModelError: The weights cannot be read, or have no such embeddings.
    """
    weights = _read(next(model.transformer.glob("*.safetensors")), "embeddings.word_embeddings.weight")
    if not weights:
        raise ModelError(f"model {model.folder} has no embeddings of tokens: its weights are not those of a BERT")
    return next(iter(weights.values()))


def _graph(model: Model, weights: Weights, config: Mapping[str, Any], head: Head) -> Any:
    try:
        encoder = _Encoder(weights, int(config["num_attention_heads"]), float(config.get("layer_norm_eps", 1e-12)))
        return encoder.graph(int(config["num_hidden_layers"]), head)
    except KeyError as error:
        raise ModelError(f"model {model.folder} has no {error.args[0]}: its weights are not those of a BERT") from error


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(str(path), framework="numpy") as file:
            yield file
    except (SafetensorError, OSError, TypeError) as error:
        raise ModelError(f"model file {path} cannot be read: {error}") from error


def _read(path: Path, ending: str = "") -> Weights:
    """The weights of the encoder in float32 whose names end so, by their names within it."""
    with _opened(path) as file:
        weights = {}
        for written in file.keys():  # noqa: SIM118
            name = written.removeprefix("bert.")
            for old, new in _OLD_NAMES.items():
                name = name.replace(old, new)
            if written.endswith(ending):
                weights[name] = file.get_tensor(written).astype(np.float32, copy=False)
        return weights


@dataclass(frozen=True)
class _Look:
    """What all layers look by: one scale for all, for OpenVINO rounds to bf16 before it only where it is shared."""

    seen: Any  # Whether a token may look at another.
    scale: Any  # What products of queries and keys are multiplied with.


@dataclass(frozen=True)
class _Encoder:
    """What writes the operations."""

    weights: Weights  # The weights by name.
    heads: int  # Heads of attention.
    epsilon: float  # What keeps a layer norm from dividing by 0.

    def graph(self, layers: int, head: Head) -> Any:
        """Token ids and attention mask, int64 (n, tokens), to one vector per text, (n, d), not normalised.

        Without a head there is one for each token, (n, tokens, d); of pairs there are scores, (n, classes).
        """
        openvino, ops = import_openvino(), _ops()
        names = ["input_ids", "attention_mask", *(["token_type_ids"] if head == "pair" else [])]
        inputs = {name: ops.parameter([-1, -1], np.int64, name=name) for name in names}
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        hidden = self._embedded(ids, inputs.get("token_type_ids"))
        # A token may look at all but padding, shape (n, 1, tokens, tokens).
        shape, first = ops.shape_of(ids), ops.constant(np.int64(0))
        texts, tokens = (ops.gather(shape, ops.constant(np.array([at])), first) for at in (0, 1))
        wanted = ops.concat([texts, ops.constant(np.array([1])), tokens, tokens], 0)
        seen = ops.unsqueeze(ops.convert(mask, "boolean"), ops.constant(np.array([1, 2])))
        visible = ops.broadcast(seen, wanted, broadcast_spec="BIDIRECTIONAL")
        look = _Look(visible, ops.constant(np.float32((self._dimension // self.heads) ** -0.5)))
        for number in range(layers):
            hidden = self._layer(f"encoder.layer.{number}.", hidden, look)
        if head == "pair":
            # Scores of the classes by the first token.
            cls = ops.gather(hidden, ops.constant(np.array([0])), ops.constant(np.int64(1)))
            scores = self._linear("classifier", ops.tanh(self._linear("pooler.dense", cls)))
            hidden = ops.squeeze(scores, ops.constant(np.array([1])))
        elif head is not None:
            hidden = _pooled(hidden, mask, head)
        graph = openvino.Model([hidden], [mask, ids, *list(inputs.values())[2:]], "bert")
        for name, node in inputs.items():
            node.output(0).tensor.set_names({name})
        return graph

    @property
    def _dimension(self) -> int:
        return int(self.weights["embeddings.LayerNorm.weight"].shape[0])

    def _embedded(self, ids: Any, segments: Any | None) -> Any:
        """Words, kinds of segment, the first where none are given, and places: each token's sum, (n, tokens, d)."""
        ops, first = _ops(), np.int32(0)
        words, kinds, places = (
            self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type", "position")
        )
        tokens = ops.gather(ops.shape_of(ids), ops.constant(np.int64(1)), ops.constant(first))
        place = ops.unsqueeze(ops.range(ops.constant(first), tokens, ops.constant(np.int32(1)), "i32"), first)
        word = ops.gather(ops.constant(words), ops.convert(ids, "i32"), ops.constant(first))
        kind = ops.constant(kinds[None, :1])
        if segments is not None:
            kind = ops.gather(ops.constant(kinds), ops.convert(segments, "i32"), ops.constant(first))
        total = ops.add(word, kind)
        total = ops.add(total, ops.gather(ops.constant(places), place, ops.constant(first)))
        return self._normal("embeddings.LayerNorm", total)

    def _layer(self, name: str, hidden: Any, look: _Look) -> Any:
        """Attention and the two products after it, each added to what it was given, and normalised."""
        ops = _ops()
        split = ops.constant(np.array([0, 0, self.heads, self._dimension // self.heads]))
        turn = ops.constant(np.array([0, 2, 1, 3], np.int32))
        parts = [
            ops.transpose(ops.reshape(self._linear(f"{name}attention.self.{part}", hidden), split, True), turn)
            for part in ("query", "key", "value")
        ]
        found = ops.scaled_dot_product_attention(*parts, look.seen, look.scale, causal=False)
        joined = ops.reshape(ops.transpose(found, turn), ops.constant(np.array([0, 0, self._dimension])), True)
        attended = self._linear(name + "attention.output.dense", joined)
        hidden = self._normal(name + "attention.output.LayerNorm", ops.add(attended, hidden))
        wide = ops.gelu(self._linear(name + "intermediate.dense", hidden), "ERF")
        return self._normal(name + "output.LayerNorm", ops.add(self._linear(name + "output.dense", wide), hidden))

    def _linear(self, name: str, hidden: Any) -> Any:
        ops = _ops()
        product = ops.matmul(hidden, ops.constant(self.weights[name + ".weight"]), False, True)
        return ops.add(product, ops.constant(self.weights[name + ".bias"][None, None]))

    def _normal(self, name: str, hidden: Any) -> Any:
        ops = _ops()
        along, least = ops.constant(np.array([-1], np.int32)), float(np.float32(self.epsilon))
        even = ops.mvn(hidden, along, True, least, "INSIDE_SQRT")
        scaled = ops.multiply(even, ops.constant(self.weights[name + ".weight"][None, None]))
        return ops.add(scaled, ops.constant(self.weights[name + ".bias"][None, None]))


def _pooled(hidden: Any, mask: Any, pooling: Pooling) -> Any:
    """One vector per text, as `.pooling` makes it: shapes (n, tokens, d) and (n, tokens) give (n, d)."""
    ops, tokens = _ops(), np.array([1])
    if pooling == "cls":
        return ops.gather(hidden, ops.constant(np.int64(0)), ops.constant(np.int64(1)))
    weight = ops.convert(ops.unsqueeze(mask, ops.constant(np.int64(-1))), "f32")
    total = ops.reduce_sum(ops.multiply(hidden, weight), ops.constant(tokens), False)
    count = ops.reduce_sum(weight, ops.constant(tokens), False)
    return ops.divide(total, ops.maximum(count, ops.constant(np.ones((1, 1), np.float32))))


def _ops() -> Any:
    import_openvino()
    from openvino import opset15

    return opset15
