"""What a crawl and those before it remember of fetched pages, and how damage to such databases is noticed."""

from __future__ import annotations

import json
import logging
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

log = logging.getLogger(__name__)

# The table in which a crawl keeps them, and the one of all crawls before.
PAGES: Final = """\
CREATE TABLE IF NOT EXISTS pages(
  key BLOB PRIMARY KEY, url TEXT NOT NULL, etag TEXT, last_modified TEXT, digest TEXT NOT NULL,
  record_id TEXT NOT NULL, fetched_at TEXT NOT NULL, links BLOB NOT NULL) WITHOUT ROWID;
"""
# By name: a table whose columns are called otherwise is damaged.
_ADD: Final = """\
INSERT OR REPLACE INTO pages(key, url, etag, last_modified, digest, record_id, fetched_at, links)
  SELECT key, url, etag, last_modified, digest, record_id, fetched_at, links FROM crawl.pages
"""


def read_only(path: Path) -> sqlite3.Connection:
    """A database, open for reading."""
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)


def is_damage(error: sqlite3.Error) -> bool:
    """Whether a database is no longer as it was written; other faults are of the disk.

    What is asked of one is ours, so that an error in it comes of a file that was cut before its tables. An error
    without a code is Python's, of a text that is none.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_OK)


def damage_of(path: Path) -> str:
    """What is wrong with the structure of a database, all of which is read; empty where nothing is.

    Rows out of order and indexes that say other than their table are found too, in some three seconds of a million
    addresses.
    """
    try:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            (report,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except UnicodeDecodeError as error:  # SQLite's own message quotes the bytes that it stumbles over.
        return f"not readable: {error}"
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return str(error)
    return "" if report == "ok" else str(report).partition("\n")[0]


@dataclass(frozen=True)
class Known:
    """What is remembered of a page that was fetched."""

    key: bytes  # `Address.key`.
    url: str  # Address.
    etag: str | None  # ETag as sent.
    last_modified: str | None  # Last-Modified as sent.
    digest: str  # WARC-Payload-Digest.
    record_id: str  # WARC-Record-ID of the response.
    fetched_at: str  # WARC-Date of the response.
    links: tuple[str, ...]  # Links that were followed from it.

    @property
    def row(self) -> tuple[bytes, str, str | None, str | None, str, str, str, bytes]:
        """Its row of the table of `PAGES`, the links as compressed JSON."""
        links = zlib.compress(json.dumps(self.links).encode(), 1)
        return self.key, self.url, self.etag, self.last_modified, self.digest, self.record_id, self.fetched_at, links


class Memory:
    """What earlier crawls know of pages: validators for conditional requests, and the links of unchanged pages.

    It only saves requests: where it is damaged nothing is known, and each page is asked for anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sql = read_only(path) if path.exists() else None

    def known(self, key: bytes) -> Known | None:
        """What is known of a page."""
        if self._sql is None:
            return None
        try:
            row: Any = self._sql.execute("SELECT * FROM pages WHERE key = ?", (key,)).fetchone()
            return None if row is None else replace(Known(*row), links=tuple(json.loads(zlib.decompress(row[-1]))))
        except (sqlite3.DatabaseError, zlib.error, ValueError, TypeError) as error:
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise
            log.warning("what crawls remember of pages is damaged and is left aside: %s error=%s", self._path, error)
            self._sql = None
            return None


def remember(memory: Path, frontiers: Sequence[Path]) -> None:
    """Add the pages of a crawl to what is known, in one transaction; a page fetched again replaces itself.

    Where what is known is damaged it begins anew.

    Raises:
        sqlite3.DatabaseError: What the crawl knows is damaged; what was known before stays.
    """
    memory.parent.mkdir(parents=True, exist_ok=True)
    try:
        _add(memory, frontiers)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        anew = memory.with_name(f".tmp-{memory.name}")
        _remove(anew)
        try:
            _add(anew, frontiers)  # Where the damage is of a frontier, this fails too.
        except sqlite3.Error:
            _remove(anew)
            raise
        log.warning("what crawls remember of pages is damaged and begins anew: %s error=%s", memory, error)
        _remove(memory)
        anew.replace(memory)


def _add(memory: Path, frontiers: Sequence[Path]) -> None:
    # SQLite adds rows to some damaged files without a word, and reads them no more.
    if memory.exists() and (damage := damage_of(memory)):
        raise sqlite3.DatabaseError(damage)
    with closing(sqlite3.connect(memory, isolation_level=None)) as connection:
        connection.execute(PAGES)
        for path in frontiers:
            connection.execute("ATTACH ? AS crawl", (str(path),))
            connection.execute(_ADD)
            connection.execute("DETACH crawl")


def _remove(database: Path) -> None:
    """Remove a database and what it would be rolled back by."""
    for path in (database, database.with_name(f"{database.name}-journal")):
        path.unlink(missing_ok=True)
