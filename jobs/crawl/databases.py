"""The databases of a crawl, each one SQLite file: opened to be read, and looked through for damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


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
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except UnicodeDecodeError as error:  # SQLite's own message quotes the bytes that it stumbles over.
        return f"not readable: {error}"
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return str(error)
    return "" if found == "ok" else str(found).partition("\n")[0]
