"""Addresses: what a path of the command line or of the Python API means, parsed once to a local path or a URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from quern.schemas.errors import QuernError

S3: Final = "s3"
STORES: Final = (S3, "gs", "az")  # Where a warehouse can be published.
# A scheme has two characters at least: `C:/pages` is a folder here.
_SCHEME: Final = re.compile(r"((?:\./+)*)([A-Za-z][A-Za-z0-9+.-]+):(/+)(.*)", re.DOTALL)


class AddressError(QuernError):
    """A path or URL that cannot be used; the message says why, and what can be used instead."""


class Url(str):
    """An address with a scheme, such as `s3://bucket/prefix`."""

    __slots__ = ()

    @property
    def scheme(self) -> str:
        """What is before `://`, in small letters."""
        return self.partition("://")[0]


def parse_address(text: str | Path) -> Path | Url:
    """The local path or the URL that `text` names.

    `scheme://rest` is a URL, except that `file:///x` and `file:/x` are the local path `/x`, with `%20` read as a space.
    `s3:/x` and `./s3:/x` are refused: `pathlib` and shell scripts make them of `s3://x`, and a folder of that name is
    a mistake more often than a wish. All else is a local path: an absolute path, and a colon that stands elsewhere
    (`a:b`, `C:/x`, `folder/s3:/x`).

    Raises AddressError: the text is blank, or no path and no URL.
    """
    address = os.fspath(text)
    if not address.strip() or "\0" in unquote(address):
        raise AddressError(f"{address!r} is no path; name a file or folder (a shell variable that is not set is empty)")
    match = _SCHEME.fullmatch(address)
    if match is None:
        return Path(text)
    dot, scheme, slashes, rest = match.groups()
    scheme = scheme.lower()
    if scheme == "file" and not dot and slashes != "//":
        return Path(os.fsdecode(unquote_to_bytes(os.fsencode(f"/{rest}"))))
    if scheme == "file":
        raise AddressError(f"{address}: an address of a file has three slashes and no host, like file:///data/pages")
    if dot or slashes != "//":
        raise AddressError(
            f"{address} looks like {scheme}://{rest} with wrong slashes: correct them, or name a folder called so "
            "by its absolute path"
        )
    return Url(f"{scheme}://{rest}")


def local_path(text: str | Path) -> Path:
    """The path on this machine that `text` names. Raises AddressError: it names none."""
    address = parse_address(text)
    if isinstance(address, Url):
        raise _not_served(address)
    return address


def page_source(text: str | Path) -> Path | Url:
    """The path or s3:// address that `text` names, to read pages from. Raises AddressError: it names neither."""
    address = parse_address(text)
    if address == f"{S3}://":
        raise AddressError(f"{address} names no bucket; write s3://bucket/prefix")
    if isinstance(address, Url) and address.scheme != S3:
        raise _not_served(address)
    return address


def warehouse_place(text: str | Path) -> Path | Url:
    """The folder of a warehouse that `text` names, or the address in an object store where it is published.

    Raises AddressError: it names neither.
    """
    address = parse_address(text)
    if not isinstance(address, Url):
        return address
    bucket, _, prefix = address.removeprefix(f"{address.scheme}://").rstrip("/").partition("/")
    if address.scheme not in STORES:
        raise _not_served(address)
    if not bucket or not prefix:
        raise AddressError(f"{address} names no bucket and prefix; write {address.scheme}://bucket/prefix")
    return Url(address.rstrip("/"))


def _not_served(address: Url) -> AddressError:
    web = "; `quern crawl` fetches web addresses that a file lists" if address.scheme in ("http", "https") else ""
    return AddressError(
        f"{address} is not served here: `quern build`, `estimate`, `ingest`, `plan` and `stage` read pages from s3://, "
        "commands that build, read or answer take a warehouse at s3://, gs:// or az://, and all else is a path on this "
        f"machine{web}"
    )


def absolute(source: Path | Url) -> Path | Url:
    """`source`, wherever a later command is started."""
    return source if isinstance(source, Url) else source.absolute()


def http_address(url: str, instead: str) -> str:
    """`url` without a slash at its end, if it is one of HTTP that holds no secret: a snapshot keeps its settings.

    Args:
        url: The address.
        instead: Where a secret belongs.

    Raises ValueError: it is another, or has a user, a password or a query.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address begins with http:// or https:// and names a host, like http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query:
        raise ValueError(f"put no user, password or query into the address: {instead}")
    return url.rstrip("/")
