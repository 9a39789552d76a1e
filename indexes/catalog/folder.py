"""The directory of a warehouse: where its parts are, and the manifests in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from quern.indexes.catalog.leases import is_leased
from quern.indexes.catalog.manifest import Manifest, WarehouseError
from quern.indexes.served import ServedTables

FORMAT = {"format": "quern warehouse", "version": 2}


class WarehouseFolder:
    """A directory that holds the tables, the memo and the snapshots, open for reading."""

    def __init__(self, root: Path) -> None:
        # Workers of engines run in directories of their own.
        self.root = root = root.absolute()
        self.memo = root / "memo"
        self.stages = root / "stages"
        self.logs = root / "logs"
        self.audits = root / "audit"
        self._snapshots = root / "snapshots"
        self._current = root / "current.json"
        self._served: ServedTables | None = None

    @classmethod
    def open(cls, root: Path) -> Self:
        """The warehouse at `root`.

        Raises:
            WarehouseError: There is none.
        """
        try:
            found = json.loads((root / "warehouse.json").read_text("utf-8"))
        except (OSError, ValueError):
            raise WarehouseError(f"{root} is no warehouse; `quern build PAGES --warehouse {root}` makes one") from None
        if found != FORMAT:
            raise WarehouseError(
                f"{root} is a warehouse of another version of Quern, which this one cannot read: name a new directory "
                "and build from the same pages again, or delete this one first"
            )
        return cls(root)

    @property
    def served(self) -> ServedTables:
        """The served tables."""
        if self._served is None:
            self._served = ServedTables(self.root / "lance")
        return self._served

    def current_id(self) -> str | None:
        """The published snapshot's build id; None before the first.

        Raises:
            WarehouseError: The pointer is damaged.
        """
        try:
            return str(json.loads(self._current.read_text("utf-8"))["build_id"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            raise WarehouseError(
                f"{self._current} is damaged; write one of snapshots/*.json into it, like "
                f'{{"build_id": "{(self.snapshot_ids() or ["ID"])[-1]}"}}'
            ) from None

    def snapshot_ids(self) -> list[str]:
        """Build ids of all snapshots, oldest first."""
        return sorted(p.stem for p in self._snapshots.glob("[0-9]*.json"))

    def manifest(self, build_id: str | None = None) -> Manifest:
        """The manifest of a snapshot, by default of the published one.

        Raises:
            WarehouseError: There is no such snapshot.
        """
        wanted = build_id or self.current_id()
        if wanted is None:
            raise WarehouseError(f"nothing is published in {self.root} yet; run `quern build` first")
        if wanted not in self.snapshot_ids():
            known = ", ".join(self.snapshot_ids()[-3:]) or "none"
            raise WarehouseError(f"there is no snapshot {wanted} in {self.root}; the latest are: {known}")
        return Manifest.model_validate_json((self._snapshots / f"{wanted}.json").read_text("utf-8"))

    def _manifest_path(self, build_id: str) -> Path:
        return self._snapshots / f"{build_id}.json"

    def is_leased(self, build_id: str) -> bool:
        """Whether a reader holds the snapshot, so that pruning leaves it alone."""
        return is_leased(self._manifest_path(build_id))
