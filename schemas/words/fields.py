"""What files call fields: `text=body`, as options and settings tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from quern.schemas.words.meant import no_such

_QUOTED: Final = r'"(?:[^"]|"")*"'
_PAIR: Final = re.compile(rf'(?:{_QUOTED}|[^,"])+|"')
_PART: Final = re.compile(rf"\s*({_QUOTED}|[^+]+)(?:\+|$)")


def quoted(name: str) -> str:
    """A name in double quotes, as messages show it and `--map` takes it."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(name: str) -> str:
    """A name without the quotes that it stands in, if it does."""
    return name[1:-1].replace('""', '"') if re.fullmatch(_QUOTED, name) else name


def pairs_of(text: str) -> list[str]:
    """The pairs of `text=body,doc_id=id`; a column that has a comma stands in quotes, or its rest has no `=`."""
    pairs: list[str] = []
    for part in _PAIR.findall(text):
        if pairs and part.strip() and "=" not in part:
            pairs[-1] += f",{part}"
        elif part.strip():
            pairs.append(part)
    return [pair.strip() for pair in pairs]


def split_names(called: str) -> list[str]:
    """The names that `+` joins, of which each may stand in quotes."""
    return [unquoted(part.strip()) for part in _PART.findall(called) if part.strip()]


def names_of_fields(pairs: Iterable[str], known: Sequence[str], what: str) -> dict[str, str]:
    """What files call fields, by the names of these.

    Args:
        pairs: Each like `text=body`.
        known: The fields that there are.
        what: Whose fields they are, for messages.

    Raises ValueError: one is not of this form or names no field, or a field or name stands twice.
    """
    fields, names = [], []
    for pair in pairs:
        name, equals, called = (part.strip() for part in pair.partition("="))
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
    return dict(zip(fields, map(unquoted, names), strict=True))
