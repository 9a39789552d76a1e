"""The automaton that reads all bytes of a text at once, against one that reads them one by one."""

from __future__ import annotations

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier, visit_counts

from quern.jobs.text.language import Automaton, _identifier

_LIBRARY = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
_TEXTS = (
    "The harbour board met on Tuesday and read the figures of the year.",
    "Der Hafenrat trat am Dienstag zusammen und las die Zahlen des Jahres.",
    "Le conseil du port s'est réuni mardi et a lu les chiffres de l'année.",
    "港务局星期二开会，宣读了今年的数字。",
)


@settings(max_examples=60)
@given(st.lists(st.one_of(st.sampled_from(_TEXTS), st.text(max_size=40)), max_size=4).map(" ".join))
def test_a_text_has_the_language_and_the_certainty_that_the_library_finds(text: str) -> None:
    assert _identifier().classify(text) == _LIBRARY.classify(text)
    assert _identifier().rank(text) == _LIBRARY.rank(text)


@st.composite
def _machines(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    count = draw(st.integers(1, 6))
    states = st.integers(0, count - 1)
    moves = draw(st.lists(states, min_size=2 * count, max_size=2 * count))
    # Two bytes lead where the machine says, all others to its start; each state has a row of its own.
    rows = [0] * (256 * count)
    for state in range(count):
        rows[256 * state + 97], rows[256 * state + 98] = moves[2 * state], moves[2 * state + 1]
    outputs = draw(st.lists(st.integers(-1, 3), min_size=count, max_size=count))
    return rows, list(range(count)), outputs


@settings(max_examples=200)
@given(_machines(), st.text("ab", max_size=30))
def test_any_automaton_is_read_as_byte_by_byte(machine: tuple[list[int], list[int], list[int]], text: str) -> None:
    moves, rows, outputs = machine
    expected = visit_counts(moves, [row << 8 for row in rows], outputs, text.encode())
    found = Automaton(array("I", moves), array("I", rows), outputs).features(text.encode())
    assert {feature: found.count(feature) for feature in found} == dict(expected or {})
