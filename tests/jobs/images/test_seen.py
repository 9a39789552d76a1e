"""A model that sees: what it is given, and what stands in where there is no picture."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from quern.jobs.images.place import Described, Remembered, likeness
from quern.jobs.images.seen import Clip
from quern.jobs.models.folders import ModelError

pytestmark = pytest.mark.torch


def tiny_clip(folder: Path) -> Path:
    """A CLIP of a thousand random numbers, in the form of transformers."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

    letters = [chr(n) for n in range(33, 127)]
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(0)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"bos_token_id": len(words) - 2, "eos_token_id": len(words) - 1, "pad_token_id": len(words) - 1}
    text = small | ends | {"vocab_size": len(words), "max_position_embeddings": 32}
    vision = small | {"image_size": 32, "patch_size": 8}
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)).save_pretrained(folder)
    images = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    tokens = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    CLIPProcessor(images, tokens).save_pretrained(folder)
    return folder


def jpeg(color: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), color).save(out, "JPEG")
    return out.getvalue()


def test_a_model_that_sees_compares_sentences_with_pictures_and_words_stand_in_for_those_not_fetched(tmp_path) -> None:
    clip = Clip(str(tiny_clip(tmp_path)))
    texts = ["A ferry in fog.", "The yard welds a bow. " * 20]
    alike = clip.likeness(texts, [jpeg("teal"), None, jpeg("red")])
    assert alike.shape == (2, 3)
    assert np.isnan(alike[:, 1]).all()
    assert ((alike[:, [0, 2]] >= 0) & (alike[:, [0, 2]] <= 1)).all()
    assert np.array_equal(clip.likeness(texts, [jpeg("teal"), None, jpeg("red")]), alike, equal_nan=True)
    assert clip.likeness(texts, []).shape == (2, 0)

    class Blind:
        def encode(self, texts):
            return np.full((len(texts), 2), np.nan, dtype=np.float32)

        def readable(self, texts):
            return np.ones(len(texts))

    images = [Described("A ferry in fog", "", "")] * 3
    by_words = likeness(texts, images, Remembered(Blind()))
    seen = likeness(texts, images, Remembered(Blind()), seen=np.array([[1.0, np.nan, 0.0], [0.0, np.nan, 1.0]]))
    assert np.array_equal(seen[:, 1], by_words[:, 1])
    assert seen[:, [0, 2]].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_folder_without_a_model_is_told(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"images\.clip: .* holds no CLIP model"):
        Clip(str(tmp_path))
    with pytest.raises(ModelError, match="is no folder"):
        Clip(str(tmp_path / "none"))
