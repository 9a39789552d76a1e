"""Which scripts a model reads."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from quern.jobs.models.folders import DEFAULT_MODEL, load_tokenizer, read_model
from quern.jobs.models.scripts import known_scripts, readable


def test_the_default_model_reads_latin_script_alone() -> None:
    assert known_scripts(load_tokenizer(read_model(DEFAULT_MODEL))) == {"LATIN"}


def test_a_script_is_known_by_its_entries_in_the_vocabulary() -> None:
    han = {chr(0x4E00 + n): n for n in range(1000)}
    assert known_scripts(Tokenizer(WordLevel(han | {"a": 1000}, unk_token="a"))) == {"CJK"}


def test_a_text_is_readable_by_the_share_of_its_letters() -> None:
    shares = readable(["Who was Zoë?", "谁是 Bo", "战国无双3", "1984?", ""], frozenset({"LATIN"}))
    assert shares.tolist() == pytest.approx([1.0, 0.5, 0.0, 1.0, 1.0])
