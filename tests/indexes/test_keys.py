"""Where keys stand among others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.indexes.keys import KeyPlaces, positions_among, positions_in

texts = st.text(st.characters(codec="utf-8"), max_size=3)


@given(st.lists(texts, unique=True, max_size=60), st.lists(st.none() | texts, max_size=8), st.booleans())
def test_few_or_many_keys_are_found_at_their_places(of: list[str], wanted: list[str | None], chunked: bool) -> None:
    listed = sorted(of, key=str.encode)
    known = pa.array(listed, pa.large_string())
    sought = pa.chunked_array([wanted], pa.string()) if chunked else pa.array(wanted, pa.string())
    places = [listed.index(key) if key in listed else -1 for key in wanted]
    assert positions_in(known, sought).tolist() == positions_among(known, sought).tolist() == places


@pytest.mark.parametrize("wanted", [[], ["a"], ["b"]])
def test_among_no_keys_none_is_found(wanted: list[str]) -> None:
    assert positions_in(pa.array([], pa.string()), pa.array(wanted, pa.string())).tolist() == [-1] * len(wanted)


@given(st.lists(texts, unique=True, max_size=60), st.lists(st.none() | texts, max_size=8))
def test_keys_in_any_order_are_found_at_their_places(keys: list[str], wanted: list[str | None]) -> None:
    known, sought = pa.array(keys, pa.string()), pa.array(wanted, pa.string())
    assert KeyPlaces(known).of(sought).tolist() == positions_among(known, sought).tolist()
