"""The frontier: every address that one crawl process has met, on disk, so that a killed crawl goes on.

One SQLite file per process (write-ahead log, one writer). What happens to a page (its archived record, the links
found on it) is saved by `commit` in one transaction, after the archive's bytes are on disk: after a kill either all
of it is there or none. Memory: about 100 bytes for each of the last 200,000 keys.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from quern.jobs.crawl.memory import PAGES, Known, read_only
from quern.jobs.crawl.urls import Address

# A trap can be refused a million times: so many of a host and reason get a row of their own, the rest are counted.
_ROWS_OF_A_REFUSAL: Final = 20
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS urls(
  id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, url TEXT NOT NULL, host TEXT NOT NULL, depth INTEGER NOT NULL,
  hops INTEGER NOT NULL, kind INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, state INTEGER NOT NULL,
  target BLOB);
CREATE INDEX IF NOT EXISTS queued ON urls(host, id) WHERE state = 0;
CREATE INDEX IF NOT EXISTS foreign_urls ON urls(id) WHERE state = 1;
CREATE TABLE IF NOT EXISTS hosts(host TEXT PRIMARY KEY, fetched INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS robots(
  origin TEXT PRIMARY KEY, body BLOB NOT NULL, failure TEXT NOT NULL, fetched_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS variants(path BLOB PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refusals(
  reason TEXT, host TEXT, count INTEGER NOT NULL, PRIMARY KEY(reason, host)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rejects(
  key TEXT, reason TEXT, detail TEXT NOT NULL, PRIMARY KEY(key, reason)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class State(IntEnum):
    """What became of an address."""

    QUEUED = 0
    FOREIGN = 1  # of another process's host, not yet handed over
    HANDED = 2
    FETCHED = 3
    UNCHANGED = 4  # answered 304
    REDIRECTED = 5
    LOST = 6  # a row of `rejects` says why
    DENIED = 7  # robots.txt
    READ = 8  # a sitemap


FETCHED: Final = (State.FETCHED, State.UNCHANGED)


class Kind(IntEnum):
    """What an address is asked for."""

    PAGE = 0
    SITEMAP = 1
    GUESS = 2  # a sitemap at the usual place, that need not be there


@dataclass(frozen=True)
class Entry:
    """One address of the queue."""

    id: int  # Place in the queue.
    key: bytes  # `Address.key`.
    url: str  # Address.
    host: str  # Its host.
    depth: int  # Links from a seed.
    hops: int  # Redirects, or indexes of sitemaps, that led here in a row.
    kind: Kind  # What it is asked for.
    attempts: int  # Requests made in vain.


class Frontier:
    """The queue, the pages fetched and the rejects of one crawl process."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._sql = sqlite3.connect(path, isolation_level=None, timeout=30)
        # With the write-ahead log, NORMAL survives the death of the process, and loses the last commit of a machine.
        self._sql.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;" + _SCHEMA + PAGES)
        self._sql.execute("BEGIN IMMEDIATE")
        self._seen: set[bytes] = set()
        self._refused: dict[tuple[str, str], int] = {}
        self.counts: dict[State, int] = dict.fromkeys(State, 0)
        for state, count in self._sql.execute("SELECT state, count(*) FROM urls GROUP BY state"):
            self.counts[State(state)] = count

    # ---- saving

    def commit(self) -> None:
        """Save everything since the last commit."""
        self._sql.executemany(
            "INSERT INTO refusals VALUES(?,?,?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            [(reason, host, count) for (reason, host), count in self._refused.items()],
        )
        self._refused.clear()
        self._sql.execute("COMMIT")
        self._sql.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Save and close."""
        self.commit()
        self._sql.execute("COMMIT")
        self._sql.close()

    def meta(self, name: str, default: str = "") -> str:
        """A remembered value."""
        row = self._sql.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else default

    def set_meta(self, name: str, value: object) -> None:
        """Remember a value."""
        self._sql.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, str(value)))

    # ---- the queue

    def add(self, address: Address, depth: int, hops: int, kind: Kind, *, foreign: bool = False) -> bool:
        """Queue an address, unless it is known; returns whether it was not."""
        if address.key in self._seen:
            return False
        if len(self._seen) >= 200_000:  # What bounds memory; the table knows all.
            self._seen.clear()
        self._seen.add(address.key)
        state = State.FOREIGN if foreign else State.QUEUED
        row = (address.key, address.url, address.host, depth, hops, int(kind), int(state))
        added = self._sql.execute(
            "INSERT OR IGNORE INTO urls(key, url, host, depth, hops, kind, state) VALUES(?,?,?,?,?,?,?)", row
        )
        self.counts[state] += added.rowcount
        return bool(added.rowcount)

    def knows(self, address: Address) -> bool:
        """Whether an address was ever queued."""
        row = self._sql.execute("SELECT 1 FROM urls WHERE key = ?", (address.key,)).fetchone()
        return address.key in self._seen or row is not None

    def count_variant(self, address: Address, most: int) -> bool:
        """Whether one more query of the address's path is within `most`; counts it."""
        row = self._sql.execute("SELECT count FROM variants WHERE path = ?", (address.path_key,)).fetchone()
        if row and row[0] >= most:
            return False
        self._sql.execute(
            "INSERT INTO variants VALUES(?, 1) ON CONFLICT DO UPDATE SET count = count + 1", (address.path_key,)
        )
        return True

    def queued_hosts(self) -> list[str]:
        """Hosts with queued addresses."""
        return [row[0] for row in self._sql.execute("SELECT DISTINCT host FROM urls WHERE state = 0")]

    def queue(self, host: str, after: int, most: int) -> list[Entry]:
        """The next `most` queued addresses of `host` whose `id` is above `after`, in the order they were found."""
        return self._entries("state = 0 AND host = ? AND id > ? ORDER BY id LIMIT ?", (host, after, most))

    def _entries(self, where: str, values: tuple[str | int, ...]) -> list[Entry]:
        columns = "id, key, url, host, depth, hops, kind, attempts"
        rows = self._sql.execute(f"SELECT {columns} FROM urls WHERE {where}", values)  # noqa: S608 - no text of others
        return [
            Entry(id_, key, url, host, depth, hops, Kind(kind), attempts)
            for id_, key, url, host, depth, hops, kind, attempts in rows
        ]

    def settle(self, entry: Entry, state: State, target: Address | None = None) -> None:
        """Take an address off the queue."""
        key = target.key if target else None
        done = self._sql.execute(
            "UPDATE urls SET state = ?, target = ? WHERE id = ? AND state = 0", (int(state), key, entry.id)
        )
        self.counts[State.QUEUED] -= done.rowcount
        self.counts[state] += done.rowcount
        if state in FETCHED:
            count = "INSERT INTO hosts VALUES(?, 1) ON CONFLICT DO UPDATE SET fetched = fetched + 1"
            self._sql.execute(count, (entry.host,))

    def count_attempt(self, entry: Entry) -> None:
        """Remember a request made in vain."""
        self._sql.execute("UPDATE urls SET attempts = attempts + 1 WHERE id = ?", (entry.id,))

    def leads_to(self, start: bytes, wanted: bytes, most: int) -> bool:
        """Whether the redirects remembered from `start` come to `wanted` within `most` steps."""
        key = start
        for _ in range(most + 1):
            if key == wanted:
                return True
            row = self._sql.execute("SELECT target FROM urls WHERE key = ?", (key,)).fetchone()
            if row is None or row[0] is None:
                return False
            key = row[0]
        return False

    def foreign(self) -> list[Entry]:
        """The next addresses of other processes' hosts that were not yet handed over."""
        return self._entries("state = 1 LIMIT 100000", ())

    def mark_handed_over(self, ids: Iterable[int]) -> None:
        """Remember that foreign addresses were handed over."""
        count = self._sql.executemany("UPDATE urls SET state = 2 WHERE id = ?", [(i,) for i in ids]).rowcount
        self.counts[State.FOREIGN] -= count
        self.counts[State.HANDED] += count

    # ---- hosts

    def fetched_of(self, host: str) -> int:
        """Pages fetched of a host."""
        row = self._sql.execute("SELECT fetched FROM hosts WHERE host = ?", (host,)).fetchone()
        return int(row[0]) if row else 0

    def robots(self, origin: str, newer_than: float) -> tuple[bytes, str] | None:
        """Body and failure of an origin's robots.txt that was fetched after `newer_than` (seconds of the epoch)."""
        row = self._sql.execute(
            "SELECT body, failure FROM robots WHERE origin = ? AND fetched_at > ?", (origin, newer_than)
        ).fetchone()
        return (row[0], row[1]) if row else None

    def keep_robots(self, origin: str, body: bytes, failure: str) -> None:
        """Remember an origin's robots.txt, or why there is none."""
        self._sql.execute("INSERT OR REPLACE INTO robots VALUES(?,?,?,?)", (origin, body, failure, time.time()))

    # ---- results

    def keep_page(self, page: Known) -> None:
        """Remember a page that was fetched."""
        self._sql.execute("INSERT OR REPLACE INTO pages VALUES(?,?,?,?,?,?,?,?)", page.row)

    def reject(self, key: str, reason: str, detail: str) -> None:
        """Record a page that was lost."""
        self._sql.execute("INSERT OR REPLACE INTO rejects VALUES(?,?,?)", (key, reason, detail[:500]))

    def refuse(self, reason: str, host: str, url: str = "", detail: str = "") -> None:
        """Count a link that is not followed; with a `url`, of which a page may be lost, the first get rows."""
        count = self._refused[reason, host] = self._refused.get((reason, host), 0) + 1
        if not url or count > _ROWS_OF_A_REFUSAL:
            return
        before = self._sql.execute("SELECT count FROM refusals WHERE reason=? AND host=?", (reason, host)).fetchone()
        if count + (before[0] if before else 0) <= _ROWS_OF_A_REFUSAL:
            self.reject(url, reason, detail)


def reject_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    """The rejects (key, reason, detail) of a frontier, in order."""
    with closing(read_only(path)) as connection:
        yield from connection.execute("SELECT key, reason, detail FROM rejects ORDER BY key, reason")


def refusal_counts(path: Path) -> dict[str, int]:
    """How many links were not followed, by reason."""
    with closing(read_only(path)) as connection:
        return dict(connection.execute("SELECT reason, sum(count) FROM refusals GROUP BY reason"))
