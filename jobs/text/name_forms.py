"""Forms of a name: the one by which names are compared, and the one that is shown."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

from quern.schemas.words.terms import search_terms

_HONORIFIC: Final = re.compile(
    r"^(?:(?:the|mr|mrs|ms|miss|dr|prof|professor|sir|dame|lord|captain|capt)\b\.?\s+)+(?=\S)", re.I
)
_COMPANY: Final = re.compile(r"[\s,]+(?:inc|ltd|llc|plc|corp|corporation|co|gmbh|company|s\.a|n\.v)\.?$", re.I)
# What tells a name from others of its form: `Mercury (planet)`.
ASIDE: Final = re.compile(r"\s*[(（](?P<aside>[^()（）]{1,60})[)）]\s*$")
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")


@lru_cache(maxsize=100_000)
def name_key(name: str) -> str:
    """The form of a name by which it is compared: without title of address, article and legal form, in lower case."""
    plain = _EDGES.sub("", name)
    shorter = _COMPANY.sub("", _HONORIFIC.sub("", plain))
    return search_terms(shorter or plain) or plain.casefold()


def display_name(forms: Counter[str]) -> str:
    """The commonest form of a name; of as common ones the longest, then the first by alphabet."""
    return min(forms, key=lambda form: (-forms[form], -len(form), form))
