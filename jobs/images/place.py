"""Where images stand beside a text: which of its paragraphs each is likest, one image a paragraph (Xinyu, 3.6.3).

The likeness of a paragraph and an image is a weighted mean of three: paragraph and image itself, paragraph and title of
the image's page, paragraph and text of that page. Images are placed so that the sum is greatest, by the Hungarian
algorithm. Without a model that sees, an image is what is said of it: cosine of the vectors, and the share of its words,
by their rarity, that the paragraph has.

The weights were compared on the pages with figures of the article extraction benchmark, a few of each: cosine and words
together place more of what belongs than either alone; title and text, which are the same for all images of a page,
keep images of other pages away and say little of where on a page one stands, so they have little weight.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from quern.jobs.text.stems import content_words

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]

_IMAGE, _TITLE, _TEXT = 0.8, 0.1, 0.1
_FOLLOWING: Final = 0.5  # What the paragraph after an image counts, of one before it.
_WORDS: Final = 0.5  # Share of words in the likeness of two texts; the rest is the cosine's.


class Model(Protocol):
    """A model of texts."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """L2-normalised vectors; NaN where there is no direction."""

    def readable(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Share of each text's letters that the model knows."""


class Remembered:
    """Vectors of texts by a model, each computed once; NaN for texts in scripts that it does not know."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of `texts`, shape (texts, d)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            if len(self._known) + len(new) > 20_000:
                self._known.clear()
                new = list(dict.fromkeys(texts))
            vectors = self._model.encode(new)
            # Share of a text's letters that a model knows, below which its vector says nothing: all such texts are
            # alike to it.
            vectors[self._model.readable(new) < 0.5] = np.nan
            self._known.update(zip(new, vectors, strict=True))
        return np.array([self._known[text] for text in texts])


@dataclass(frozen=True)
class Described:
    """An image that may be placed."""

    description: str  # What is said of it; empty where nothing is.
    title: str  # Title of its page.
    text: str  # Main text of its page.

    @property
    def opening(self) -> str:
        """What stands for its page."""
        # Characters of a page that stand for its text: a model reads no more of it.
        return f"{self.title}\n{self.text[:1_500]}"


@dataclass(frozen=True)
class Place:
    """An image beside a paragraph."""

    paragraph: int  # Position of the paragraph.
    image: int  # Position of the image.
    score: float  # Their likeness, in [0, 1].


def relevance(question: str, images: Sequence[Described], encode: Encode) -> Matrix:
    """Likeness of a question and what is said of images: the cosine, or where the model cannot read, shared words."""
    described = [image.description for image in images]
    cosines = _cosines([question], described, encode)
    words = Rarity(images, [question]).shared([question], described) if np.isnan(cosines).any() else cosines
    return np.where([bool(text) for text in described], _first(cosines, words)[0], 0.0)


def likeness(
    paragraphs: Sequence[str],
    images: Sequence[Described],
    encode: Encode,
    beside: Mask | None = None,
    seen: Matrix | None = None,
) -> Matrix:
    """Likeness of paragraphs and images, shape (paragraphs, images), in [0, 1].

    Args:
        paragraphs: Texts.
        images: What may stand beside them.
        encode: Vectors of texts, L2-normalised; NaN for what the model cannot read.
        beside: Where the page of an image sets it beside what the paragraph quotes; shape (paragraphs, images).
        seen: Likeness by a model that sees; NaN for images that it was not shown.
    """
    described = [image.description for image in images]
    words = Rarity(images, paragraphs).shared(paragraphs, described)
    own = _first(_WORDS * words + (1 - _WORDS) * _cosines(paragraphs, described, encode), words)
    own = np.where([bool(text) for text in described], own, 0.0)
    if seen is not None:
        own = _first(seen, own)
    if beside is not None:
        # How far towards 1 an image is like a paragraph that quotes what its page sets it beside; set by hand.
        own = np.where(beside, own + 0.5 * (1 - own), own)
    title = _first(_cosines(paragraphs, [image.title for image in images], encode), own)
    text = _first(_cosines(paragraphs, [image.opening for image in images], encode), own)
    return np.asarray(np.clip(_IMAGE * own + _TITLE * title + _TEXT * text, 0.0, 1.0), dtype=np.float64)


def running(alike: Matrix) -> Matrix:
    """Likenesses in a running text: an image stands after a paragraph, and is of it or of the one that follows."""
    following = np.vstack([alike[1:], np.zeros((1, alike.shape[1]))]) if len(alike) else alike
    return np.asarray((alike + _FOLLOWING * following) / (1 + _FOLLOWING), dtype=np.float64)


def placed(alike: Matrix, threshold: float) -> list[Place]:
    """The places of images whose likenesses have the greatest sum, one a paragraph; by paragraph.

    A pair below the threshold has no place: the paragraph stays without an image, and the image unplaced.
    """
    # Most answers have no image. `scipy.optimize` has this for dense matrices, and takes three times as long to import.
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching as matching

    if not alike.size:
        return []
    # 1 is added to each, as a pair of weight 0 is none.
    rows, columns = matching(csr_array(1.0 + np.where(alike >= threshold, alike, 0.0)), maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [Place(row, column, float(alike[row, column])) for row, column in pairs if alike[row, column] >= threshold]


def _first(likely: Matrix, else_: Matrix) -> Matrix:
    """The first of two, where it is known."""
    return np.asarray(np.where(np.isnan(likely), else_, likely), dtype=np.float64)


class Rarity:
    """How rare words are in the pages of images, and in some texts."""

    def __init__(self, images: Sequence[Described], texts: Sequence[str]) -> None:
        pages = dict.fromkeys(image.text for image in images)
        every = [*(line for page in pages for line in page.split("\n")), *texts]
        self._having = Counter(word for text in every for word in content_words(text))
        self._texts = len(every)

    def shared(self, texts: Sequence[str], described: Sequence[str]) -> Matrix:
        """Share of the words of each description, by their weight, that each text has; (texts, descriptions)."""
        has = [content_words(text) for text in texts]
        shares = np.zeros((len(texts), len(described)))
        for column, text in enumerate(described):
            having = {word: self._having[word] for word in content_words(text)}
            # The idf of each, as BM25 has it.
            weights = {word: math.log1p((self._texts - n + 0.5) / (n + 0.5)) for word, n in having.items()}
            whole = sum(weights.values())
            for row, words in enumerate(has):
                shares[row, column] = sum(weights[word] for word in weights.keys() & words) / whole if whole else 0.0
        return shares


def _cosines(texts: Sequence[str], others: Sequence[str], encode: Encode) -> Matrix:
    """Cosines, shape (texts, others), none below 0; NaN where a text has no direction."""
    every = list(dict.fromkeys([*texts, *others]))
    at = {text: n for n, text in enumerate(every)}
    vectors = encode(every)
    product = vectors[[at[text] for text in texts]] @ vectors[[at[text] for text in others]].T
    return np.asarray(np.clip(product, 0.0, 1.0), dtype=np.float64)
