"""Text of pages on a screen: printable, on one line, of a length."""

import re

from hypothesis import given
from hypothesis import strategies as st

from quern.schemas.words.lines import one_line, plain, printable, shortened


@given(st.text(st.characters()))
def test_plain_text_is_printable_and_stays_so(text):
    once = plain(text)
    assert plain(once) == once
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", once)
    assert "\n" not in one_line(text)


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_is_short(text, characters):
    assert len(shortened(text, characters)) <= characters


@given(st.text())
def test_printable_keeps_every_place(text):
    assert len(printable(text)) == len(text)
    printable(text).encode()
