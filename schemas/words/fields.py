"""What files call fields: `text=body`, as options and settings tell it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quern.schemas.words.meant import no_such


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
