from __future__ import annotations

import copy
import re

import pytest

from quern.schemas.words.patterns import lazy_pattern

TEXT = "The ferry Maren ran aground, and the ferry Orin did not."


def test_a_lazy_pattern_finds_what_the_compiled_one_finds() -> None:
    text, flags = r"the (?P<what>ferry) \w+", re.IGNORECASE
    lazy, compiled = lazy_pattern(text, flags), re.compile(text, flags)
    assert [m.span() for m in lazy.finditer(TEXT)] == [m.span() for m in compiled.finditer(TEXT)] != []
    assert lazy.match(TEXT).span() == compiled.match(TEXT).span()
    assert lazy.fullmatch(TEXT) is None


def test_it_is_compiled_when_it_is_used_and_travels_as_text() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")
    used = lazy_pattern(r"ferry (\w+)")
    assert used.findall(TEXT) == ["Maren", "Orin"]
    assert copy.deepcopy(used).sub(r"\1", TEXT) == "The Maren ran aground, and the Orin did not."
