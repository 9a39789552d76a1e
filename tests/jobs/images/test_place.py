"""Where images stand beside a text: at most one a paragraph, by what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from zlib import crc32

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.images.place import Described, Place, Remembered, likeness, placed, relevance

PARAGRAPHS = [
    "The ferry Lady Orrin struck a dredger in thick fog on Saturday.",
    "Its captain, Edda Marsh, said that the bell had been heard on the quay.",
    "The yard at Dunmere has begun to weld a new bow.",
]
PAGE = "\n".join(PARAGRAPHS)


class Words:
    """A model of texts that knows Latin letters alone, and of texts their words."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        counts = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                counts[row, crc32(word.strip(".,").encode()) % 256] += 1
        with np.errstate(invalid="ignore"):
            return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def readable(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([float(text.isascii()) for text in texts])


def said(description: str) -> Described:
    return Described(description, "The ferry", PAGE)


def test_each_image_stands_by_the_paragraph_that_speaks_of_what_it_shows_and_one_alone() -> None:
    images = [said("Welding the bow at Dunmere"), said("Captain Edda Marsh"), said("Edda Marsh, captain"), said("")]
    places = placed(likeness(PARAGRAPHS, images, Remembered(Words())), 0.3)
    assert [(p.paragraph, p.image) for p in places] in ([(1, 1), (2, 0)], [(1, 2), (2, 0)])


def test_what_the_model_cannot_read_is_compared_by_words_and_an_image_nobody_described_is_like_nothing() -> None:
    paragraphs = ["渡轮在大雾中撞上了挖泥船。", "船长说听到了钟声。"]
    images = [Described("船长听到钟声", "渡轮", "\n".join(paragraphs)), Described("", "渡轮", "\n".join(paragraphs))]
    encode = Remembered(Words())
    alike = likeness(paragraphs, images, encode)
    assert alike[1, 0] > alike[0, 0] == 0
    assert not alike[:, 1].any()
    relevant = relevance("船长听到了什么？", images, encode)
    assert relevant[0] > relevant[1] == 0


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=4), st.floats(0.01, 1))
def test_places_have_the_greatest_sum_there_is_above_the_threshold(rows: list[list[float]], threshold: float) -> None:
    alike = np.array(rows)
    places = placed(alike, threshold)
    assert len({p.paragraph for p in places}) == len({p.image for p in places}) == len(places)
    assert all(p == Place(p.paragraph, p.image, alike[p.paragraph, p.image]) and p.score >= threshold for p in places)
    worth = np.vstack([np.where(alike >= threshold, alike, 0), np.zeros((3, 3))])
    best = max(sum(worth[row, n] for n, row in enumerate(chosen)) for chosen in permutations(range(len(worth)), 3))
    assert np.isclose(sum(p.score for p in places), best)
