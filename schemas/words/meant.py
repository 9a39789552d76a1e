"""What somebody meant who wrote a name that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

# `hybird` and `hybrid` are alike by .83, `dens` and `dense` by .89; unlike names of one list seldom by more than .6.
ALIKE: Final = 0.6


def meant(name: str, known: Iterable[str], cutoff: float = ALIKE) -> str | None:
    """The name of `known` that is most like `name`, by at least `cutoff` (0 to 1); None where none is.

    Long names with much in common, of settings and snapshots, want a lower cutoff: the part that is written wrong is
    most of what tells them apart.
    """
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[near[0]] if near else None


def no_such(kind: str, name: str, known: Iterable[str]) -> str:
    """`there is no recipe 'hybird'; did you mean hybrid?`, or all names that there are where none is like it."""
    names = list(known)
    near = meant(name, names)
    return f"there is no {kind} {name!r}; " + (f"did you mean {near}?" if near else f"there are: {', '.join(names)}")
