"""Full-width letters, digits and punctuation (Unicode's block U+FF01 to U+FF5E) in their half-width form.

Between Chinese, Japanese or Korean characters the full-width `，！？：；` are that script's own punctuation, where
sentences end and clauses part; by the setting `normalise.punctuation` they stay there (`outside_cjk`) or are
mapped too (`all`, Xinyu's supplementary material C). `。` and `、` have no half-width form.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from quern.schemas.words.patterns import lazy_pattern
from quern.schemas.words.scripts import CJK

Punctuation = Literal["outside_cjk", "all"]

_SPACE: Final = "\u3000"
_FULL: Final = lazy_pattern("[\uff01-\uff5e\u3000]")
# The scripts with the punctuation that stands among them.
_CJK: Final = f"{CJK}\u3001-\u303f“”‘’—…"
_OWN: Final = "，！？：；"
# What is not the script's own punctuation, and that where no character of the script is on either side.
_FOREIGN: Final = lazy_pattern(f"[\uff01-\uff5e\u3000](?<![{_OWN}])|(?<![{_CJK}{_OWN}])[{_OWN}](?![{_CJK}{_OWN}])")
# A half-width mark ends a sentence or clause only before a space.
_CROWDED: Final = lazy_pattern(f"(?:[{_OWN}](?!\\d)|(?<!\\d)[{_OWN}])(?=[^\\s{_OWN}”’」』】》\"')）])")


def _half(match: re.Match[str]) -> str:
    return " " if match[0] == _SPACE else chr(ord(match[0]) - ord("！") + ord("!"))


def half_width(text: str, punctuation: Punctuation = "outside_cjk") -> str:
    """`text` with full-width forms made half-width."""
    if text.isascii() or _FULL.search(text) is None:
        return text
    if punctuation == "all":
        return _FULL.sub(_half, _CROWDED.sub(lambda match: match[0] + " ", text))
    return _FOREIGN.sub(_half, text)
