"""The published side of a warehouse in an object store; memo, staging and a cache are in a folder on this machine.

    s3://BUCKET/PREFIX/current.json                  the pointer: the snapshots that there are, and the published one
    s3://BUCKET/PREFIX/snapshots/ID.CHECKSUM.json    manifests, which say where each file of their tables is
    s3://BUCKET/PREFIX/files/ID/CHECKSUM             files of tables, under the build that first published them
    s3://BUCKET/PREFIX/history/ID.CHECKSUM.parquet   the table `builds`

Only the pointer is ever replaced, by a put on condition that it is the one that was read: what it does not name is not
published. No key is written by two builds, so that pruning deletes nothing that another build counts on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError

from quern.indexes.catalog.manifest import Manifest, Name
from quern.indexes.checksums import (
    VERIFIED,
    DamagedError,
    checksum,
    damage,
    read_sealed,
    sealed,
    size_of,
    unsealed,
    write_sealed,
)
from quern.indexes.object_store import ObjectStore, StoreError, Version
from quern.indexes.storage import BEGUN, write_whole
from quern.schemas.addresses import Url
from quern.schemas.digests import text_digest

log = logging.getLogger(__name__)

_POINTER: Final = "current.json"
MARK: Final = "store.json"  # In the folder on this machine: where it is published.
_ABANDONED: Final = timedelta(days=7)  # The age from which on a file that no snapshot names is of no build in progress.

MEND: Final = "delete the object, if it is there, then `quern build` uploads what the next snapshot needs"


class LostRaceError(StoreError):
    """Another snapshot was published since the pointer was read; who raises it has published nothing."""


class Pointer(BaseModel):
    """The snapshots of a warehouse, and the published one."""

    version: int  # Of the format of the warehouse.
    build_id: Name  # The published snapshot.
    snapshots: dict[Name, str] = Field(default_factory=dict)  # Checksums of all manifests, by build id.


def working_folder(place: Path | Url) -> Path:
    """The folder on this machine of the warehouse at `place`: of one in an object store it is made if it is not there.

    That is one below `QUERN_STORES`, by default `quern/stores` in the user's cache.

    Raises StoreError: it cannot be made.
    """
    if not isinstance(place, Url):
        return place
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "quern" / "stores"
    folder = Path(os.environ.get("QUERN_STORES") or cache).absolute() / text_digest(place)[:16]
    try:
        if not (folder / MARK).exists():
            write_sealed(folder / MARK, {"url": place})
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}); QUERN_STORES names another folder") from None
    return folder


def stored_at(root: Path, version: int) -> StoredSnapshots | None:
    """What is published of the warehouse whose folder is `root`; None where that is in the folder itself."""
    try:
        return StoredSnapshots(Url(read_sealed(root / MARK)["url"]), root, version)
    except FileNotFoundError:
        return None


class StoredSnapshots:
    """The snapshots of one warehouse in an object store, and their files as far as they are cached."""

    def __init__(self, url: Url, root: Path, version: int) -> None:
        self.url, self.root, self._format = url, root, version
        self.objects = ObjectStore(url)
        self._damaged: set[str] = set()

    @cached_property
    def _read(self) -> tuple[Pointer, Version] | None:
        """The pointer and its version, as they were when they were first asked for; None before the first snapshot."""
        answer = self.objects.read(_POINTER)
        if answer is None:
            return None
        try:
            pointer = Pointer.model_validate(unsealed(answer[0]))
        except (ValueError, ValidationError) as error:
            raise StoreError(f"{self.url}/{_POINTER} is damaged: put an earlier version of it there") from error
        if pointer.version != self._format:
            raise StoreError(
                f"{self.url} was made by another version of Quern (format {pointer.version}, this one reads "
                f"{self._format}): use that one, or name another prefix and build from the same pages again"
            )
        return pointer, answer[1]

    @property
    def pointer(self) -> Pointer | None:
        """The pointer as it was when it was last read."""
        return self._read[0] if self._read else None

    @property
    def current(self) -> str | None:
        """The published snapshot's build id; None before the first."""
        return self.pointer.build_id if self.pointer else None

    def refresh(self) -> None:
        """Read the pointer again when it is next asked for."""
        self.__dict__.pop("_read", None)

    # ---- reading -----------------------------------------------------------------------------------------

    def fetch_manifest(self, build_id: str, path: Path) -> None:
        """Have the manifest of a snapshot at `path`.

        Raises DamagedError: it is gone from the store, or is not as it was written.
        """
        expected = self.pointer.snapshots.get(build_id) if self.pointer else None
        if expected is not None and VERIFIED.damage(path, expected):
            self._fetch(_manifest_key(build_id, expected), path)

    def fetch(self, manifest: Manifest, name: str) -> None:
        """Have what the manifest names `name`, a file or a folder, whole and undamaged in the folder of this machine.

        Raises DamagedError: a file is gone from the store, or is not as it was written.
        """
        keys = {n: key for n, key in manifest.objects.items() if n == name or n.startswith(f"{name}/")}
        paths = {self.root / n: key for n, key in keys.items()}
        lacking = [path for path, key in paths.items() if VERIFIED.damage(path, checksum_in(key))]
        if lacking:
            self.objects.each(lambda path: self._fetch(paths[path], path), lacking)
            log.info("fetched=%s files=%d snapshot=%s", name, len(lacking), manifest.build_id)

    def _fetch(self, key: str, path: Path) -> None:
        """Write an object to `path`, by way of a file that is in nobody's folder until it is whole."""
        whole = self.root / "fetched" / uuid4().hex
        try:
            write_whole(whole, lambda temporary: self._download(key, temporary))
            path.parent.mkdir(parents=True, exist_ok=True)
            whole.replace(path)
        finally:
            whole.unlink(missing_ok=True)
        VERIFIED.add(path, checksum_in(key))

    def _download(self, key: str, path: Path) -> None:
        expected = checksum_in(key)
        try:
            self.objects.download(key, path, expected)
            why = damage(path, expected)
        except FileNotFoundError:
            why = "it is gone"
        if why:
            self._damaged.add(key)
            raise DamagedError(Path(key), f"in {self.url}: {why}", MEND)

    def object_damage(self, key: str) -> str:
        """What is wrong with an object, which is read whole; empty where it is as it was written."""
        try:
            with NamedTemporaryFile(prefix=BEGUN, dir=self.root) as file:
                self._download(key, Path(file.name))
        except DamagedError as error:
            return error.why
        return ""

    def fetch_history(self, folder: Path) -> None:
        """Have the records of all builds in `folder`."""
        paths = {folder / key.rpartition("/")[2]: key for key in self.objects.listed("history/")}
        lacking = [path for path in paths if not path.exists()]
        self.objects.each(lambda path: self._fetch(paths[path], path), lacking)
        for path in lacking:  # Another machine wrote the record of a build again.
            for other in set(folder.glob(f"{path.name.partition('.')[0]}.*")) - set(paths):
                other.unlink()

    # ---- writing -----------------------------------------------------------------------------------------

    def publish(self, manifest: Manifest, files: Mapping[Path, str], parent: Manifest | None) -> Manifest:
        """Upload the files that the published snapshot lacks, then the manifest, and move the pointer to it.

        Args:
            manifest: The snapshot.
            files: The files of its tables, and their checksums.
            parent: The published snapshot; None where there is none, or its manifest is damaged.

        Returns:
            The manifest, with the keys of its files.

        Raises DamagedError: a file is not as it was written; StoreError: the store fails, or another snapshot was
        published since the build began.
        """
        if parent is not None and parent.build_id != manifest.parent:
            raise self._lost()
        there = self.objects.listed("files/")
        # What was found damaged, or has another size than it had, is uploaded again.
        known = {
            checksum_in(key): key
            for key in (parent.objects.values() if parent else ())
            if key not in self._damaged and _is_whole(key, there)
        }
        keys = {path: known.get(of) or f"files/{manifest.build_id}/{of}" for path, of in files.items()}
        new = {key: path for path, key in keys.items() if not _is_whole(key, there)}
        self.objects.each(lambda key: self._upload(key, new[key]), new)
        there = self.objects.listed("files/")
        if short := [key for key in keys.values() if not _is_whole(key, there)]:
            raise StoreError(f"{self.url} has not kept {short[0]} and {len(short) - 1} other files whole: build again")
        objects = {path.relative_to(self.root).as_posix(): key for path, key in sorted(keys.items())}
        manifest = manifest.model_copy(update={"objects": objects})
        content = sealed(manifest.model_dump(mode="json")).encode("ascii")
        self.objects.put(_manifest_key(manifest.build_id, checksum(content)), content)
        mine = {manifest.build_id: checksum(content)}
        try:
            self._move(manifest.build_id, lambda known: known | mine)
        except LostRaceError:
            if self.pointer is None or not mine.items() <= self.pointer.snapshots.items():
                raise
            log.warning("published=%s and another after it, before the store's answer came", manifest.build_id)
        log.info(
            "published=%s at=%s uploaded=%d reused=%d", manifest.build_id, self.url, len(new), len(keys) - len(new)
        )
        return manifest

    def _upload(self, key: str, path: Path) -> None:
        if why := VERIFIED.damage(path, checksum_in(key)):
            raise DamagedError(path, why)
        self.objects.put(key, path)

    def put_history(self, path: Path) -> None:
        """Upload the record of a build, in place of an earlier one."""
        build_id = path.name.partition(".")[0]
        earlier = [key for key in self.objects.listed("history/") if key.startswith(f"history/{build_id}.")]
        self.objects.put(key := f"history/{path.name}", path)
        self.objects.delete([other for other in earlier if other != key])

    def point_to(self, build_id: str) -> None:
        """Publish a snapshot that is there. Raises StoreError: another was published since the pointer was read."""
        self._move(build_id, lambda known: known)

    def forget(self, build_id: str, kept: Callable[[], Sequence[Manifest]]) -> None:
        """Forget a snapshot, then delete what only it named, and what builds left that were killed long ago.

        Args:
            build_id: The snapshot.
            kept: The manifests of the others that can be read: where one cannot, nothing is deleted.
        """
        self._move(None, lambda known: {of: c for of, c in known.items() if of != build_id})
        others, manifests = self.pointer.snapshots if self.pointer else {}, kept()
        if len(manifests) < len(others):
            return
        keys = {key for manifest in manifests for key in manifest.objects.values()}
        keys |= {_manifest_key(of, expected) for of, expected in others.items()}
        there = self.objects.listed("files/") | self.objects.listed("snapshots/")
        newest = max((changed for _, changed in there.values()), default=None)  # By the store's clock, as all are.
        unused = [
            key
            for key, (_, changed) in there.items()
            if key not in keys
            and (key.split("/")[1].partition(".")[0] == build_id or (newest and newest - changed > _ABANDONED))
        ]
        self.objects.delete(unused)

    def _move(self, build_id: str | None, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
        """Replace the pointer: publish `build_id`, or what is published, of the snapshots that `change` makes of those.

        Where only the list of snapshots changed since the pointer was read, as by pruning, it is tried again.
        """
        before = self.current
        for _ in range(10):
            pointer, version = self._read or (None, None)
            snapshots = change(dict(pointer.snapshots) if pointer else {})
            current = build_id or self.current
            if current not in snapshots:
                raise LostRaceError(
                    f"{self.url}: snapshot {current} was pruned meanwhile; `quern snapshots list` names others"
                )
            moved = Pointer(version=self._format, build_id=current, snapshots=snapshots)
            new = self.objects.replace(_POINTER, sealed(moved.model_dump()).encode("ascii"), version)
            if new is not None:
                self._read = moved, new
                return
            self.refresh()
            if self.current != before:
                break
        raise self._lost()

    def _lost(self) -> LostRaceError:
        return LostRaceError(
            f"{self.url}: snapshot {self.current} was published meanwhile by another command, so nothing was published "
            "by this one: run it again, it goes on from what it computed"
        )


def checksum_in(key: str) -> str:
    """The checksum that the key of an object ends with, before a suffix."""
    return key.rpartition("/")[2].removesuffix(".parquet").removesuffix(".json").rpartition(".")[2]


def _is_whole(key: str, there: Mapping[str, tuple[int, object]]) -> bool:
    return key in there and there[key][0] == size_of(checksum_in(key))


def _manifest_key(build_id: str, expected: str) -> str:
    return f"snapshots/{build_id}.{expected}.json"
