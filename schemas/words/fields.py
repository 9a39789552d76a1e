"""What files call fields: `text=body`, as options and settings tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from quern.schemas.words.meant import no_such

_PAIR: Final = re.compile(r'(?:"[^"]*"|[^,"])+')


def pairs_of(text: str) -> list[str]:
    """The pairs of `text=body,doc_id=id`; a column that has a comma stands in quotes, or its rest has no `=`."""
    pairs: list[str] = []
    for part in _PAIR.findall(text):
        if pairs and "=" not in part:
            pairs[-1] += f",{part}"
        elif part.strip():
            pairs.append(part)
    return [pair.strip() for pair in pairs]


def column_named(called: str) -> str:
    """A column as a pair names it, without the quotes around it."""
    called = called.strip()
    quoted = len(called) > 1 and called.startswith('"') and called.endswith('"') and '"' not in called[1:-1]
    return called[1:-1] if quoted else called


def names_of_fields(pairs: Iterable[str], known: Sequence[str], what: str) -> dict[str, str]:
    """What files call fields, by the names of these.

    Args:
        pairs: Each like `text=body`.
        known: The fields that there are.
        what: Whose fields they are, for messages.

    Raises:
        ValueError: One is not of this form or names no field, or a field or name stands twice.
    """
    fields, names = [], []
    for pair in pairs:
        name, equals, called = (part.strip() for part in pair.partition("="))
        called = column_named(called)
        if not equals or not called:
            raise ValueError(f"write {pair!r} like {known[1]}=NAME")
        if name not in known:
            raise ValueError(no_such(f"field of {what}", name, known))
        fields.append(name)
        names.append(called)
    for said, other, kind in ((fields, names, "field"), (names, fields, "column")):
        for one in said:
            both = [o for s, o in zip(said, other, strict=True) if s == one]
            if len(both) > 1:
                raise ValueError(f"the {kind} {one} stands there twice, for {' and for '.join(both)}")
    return dict(zip(fields, names, strict=True))
