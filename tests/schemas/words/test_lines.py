"""Text of pages on a screen: printable, on one line, of a length."""

import re

from hypothesis import given
from hypothesis import strategies as st

from quern.schemas.words.lines import one_line, plain, printable, shortened, shortened_where_they_differ


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


@given(st.text(), st.text(), st.text(), st.integers(8, 50))
def test_two_shortened_texts_show_where_the_first_differs(same, one, other, characters):
    both = shortened_where_they_differ(same + one, same + other, characters)
    assert all(len(line) <= characters for line in both)
    assert (both[0] == both[1]) == (one_line(same + one) == one_line(same + other))
