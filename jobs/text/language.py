"""The language of a text, identified from the text; what the page declares only breaks ties."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

# Characters after which more text changes nothing.
_SAMPLE: Final = 500
_TAG: Final = re.compile(r"^\s*([A-Za-z]{2})(?:[-_].*)?$")


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # Loaded on first use: half a second and 30 MB that a worker without text does not pay.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    class Identifier(LanguageIdentifier):  # type: ignore[misc]  # a package without types
        """py3langid's identifier, whose automaton reads all bytes of a text at once."""

        def __init__(self, *model: Any, **options: Any) -> None:
            super().__init__(*model, **options)
            self.automaton = Automaton(self.tk_nextmove, self.tk_row, self.tk_output)

        def _raw_score(self, text: bytes) -> npt.NDArray[np.float32]:
            features = self.automaton.features(text)
            # Without any the library says what an undecided text scores.
            scores: npt.NDArray[np.float32] = (
                self._sparse_score(Counter(features), self.nb_ptc) if features else super()._raw_score(b"")
            )
            return scores

    return Identifier.from_model_file(MODEL_FILE, norm_probs=True)


class Automaton:
    """A finite automaton over bytes that states which features end where.

    A state of n-grams depends on the last few bytes alone. So all bytes take a step at once, from the states that were
    found for the bytes before them, until no state changes: then each follows from the one before, and all are right.
    That takes as many rounds as the longest n-gram has bytes (of any automaton at most one a byte), and its look-ups
    wait for memory together: one after another they take twice as long.
    """

    def __init__(self, moves: Any, rows: Any, outputs: Any) -> None:
        """Args: `moves[256 * rows[state] + byte]` is the next state, `outputs[state]` its feature (negative: none)."""
        self._moves = np.asarray(moves)
        self._rows = np.asarray(rows, dtype=np.intp) << 8
        self._outputs = np.asarray(outputs, dtype=np.intp)

    def features(self, text: bytes) -> list[int]:
        """The features of a text in the order of their ends."""
        letters = np.frombuffer(text, dtype=np.uint8)
        states = np.zeros(len(letters) + 1, dtype=np.intp)
        before, after = states[:-1], states[1:]
        while True:
            found = self._moves.take(self._rows.take(before) + letters)
            if (found == after).all():
                break
            after[:] = found
        found = self._outputs.take(after)
        features: list[int] = found[found >= 0].tolist()
        return features


def language_tag(declared: str | None) -> str | None:
    """ISO 639-1 code of a declared language such as `pt-BR`."""
    match = _TAG.match(declared or "")
    return match[1].lower() if match else None


def language_of(text: str, declared: str | None = None) -> tuple[str | None, str | None]:
    """ISO 639-1 code of the language of `text`, and whether `text` or `html`, the declaration, decided it.

    The text decides where it is clear. Otherwise a declared language wins if the text does not speak against
    it; pages are often declared to be in the language of their template. Null where nothing tells.
    """
    tag = language_tag(declared)
    by_tag = (tag, "html" if tag else None)
    if not any(c.isalpha() for c in text):
        return by_tag
    best, share = _identifier().classify(text[:_SAMPLE])
    if share >= 0.95 and len(text) >= 40:  # Shorter ones do not decide alone.
        return str(best), "text"
    if tag is not None and dict(_identifier().rank(text[:_SAMPLE])).get(tag, 0.0) >= 0.01:
        return by_tag
    return (str(best), "text") if share >= 0.5 else by_tag


def identify(text: str, declared: str | None = None) -> str | None:
    """ISO 639-1 code of the language of `text`; see `language_of`."""
    return language_of(text, declared)[0]
