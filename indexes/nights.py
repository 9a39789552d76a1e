"""The nights of a warehouse: which builds were published, also those whose snapshots are pruned."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from quern.indexes.checksums import DamagedError, read_sealed, write_sealed
from quern.indexes.memo_uses import night_of

log = logging.getLogger(__name__)

NIGHTS_FILE: Final = "nights.json"
_MOST: Final = 1000


def published_nights(memo: Path) -> list[str]:
    """Names of the builds that were published, in that order; none where that is not known."""
    try:
        return [str(name) for name in read_sealed(memo / NIGHTS_FILE, "the next build begins it anew")["nights"]]
    except FileNotFoundError:
        return []
    except DamagedError as error:
        log.warning("%s", error)
        return []


def add_night(memo: Path, build_id: str) -> None:
    """Remember that a build was published."""
    nights = [*(night for night in published_nights(memo) if night != build_id), build_id]
    write_sealed(memo / NIGHTS_FILE, {"nights": nights[-_MOST:]})


def oldest_kept(nights: list[str], keep: int, published: str | None) -> int:
    """The night since which results stay: the earliest of the newest `keep` and of the published one; 0 for all.

    By the numbers of all of these, for a clock that was moved back gives a later night an earlier name.
    """
    if len(nights) < keep:
        return 0
    return min(night_of(night) for night in [*nights[-keep:], *([published] if published else [])])
