"""A prefix of an object store (S3, Google Cloud Storage, Azure) through `obstore`: objects by their keys below it.

The environment gives credentials, region and endpoint, as it does for other tools of these stores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import uuid4

from quern.indexes.checksums import size_of
from quern.schemas.addresses import Url
from quern.schemas.errors import QuernError
from quern.schemas.extras import require

_BLOCK: Final = 16 << 20  # Bytes of one request: it is repeated whole where the connection is cut.
_MOST_PARTS: Final = 9_000  # S3 takes 10,000 parts of one object.
_AT_ONCE: Final = 8  # Requests.
_ATTEMPTS: Final = 3  # Of a download whose connection is cut after the first bytes, which `obstore` does not repeat.
_RETRIES: Final = {"max_retries": 8, "retry_timeout": timedelta(seconds=60)}
_METADATA: Final = "169.254."  # Where a machine of a cloud asks for credentials if the environment has none.
Version = dict[str, str]
Item = TypeVar("Item")


class StoreError(QuernError):
    """A store that cannot be reached, read or written, or that lost a race; the message says what to do."""


class ObjectStore:
    """The objects below one prefix."""

    def __init__(self, url: Url) -> None:
        self.url = url

    @cached_property
    def _store(self) -> Any:
        require("obstore", f"a warehouse at {self.url}")
        from obstore.store import from_url

        endpoints = [os.environ.get(name, "") for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")]
        endpoint = next(filter(None, endpoints), "") if self.url.scheme == "s3" else ""
        client = {"connect_timeout": "10s", "timeout": "60s", "allow_http": endpoint.startswith("http://")}
        at = {"endpoint": endpoint} if endpoint else {}
        with self._telling("opened"):
            return from_url(self.url, client_options=client, retry_config=_RETRIES, **at)

    @contextmanager
    def _telling(self, done: str) -> Iterator[None]:
        """Raise what goes wrong as one sentence; that there is no such object stays `FileNotFoundError`."""
        from obstore import exceptions

        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
                raise StoreError(f"{self.url}: there is no such bucket; make it first") from None
            raise
        except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
            raise
        except (exceptions.BaseError, NotImplementedError, OSError) as error:
            why = str(error).partition("\n")[0][:300]
            refused = isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError)
            if refused or _METADATA in why or "Missing AccessKeyId" in why or "Missing SecretAccessKey" in why:
                why = "its credentials are missing or refused; set those of the environment, such as AWS_ACCESS_KEY_ID"
            raise StoreError(f"{self.url} cannot be {done}: {why}") from None

    def read(self, key: str) -> tuple[bytes, Version] | None:
        """An object and what `replace` knows its version by; None where there is none.

        Raises StoreError: the store cannot be read.
        """
        import obstore

        try:
            with self._telling("read"):
                return repeated(lambda: _whole(obstore.get(self._store, key)))
        except FileNotFoundError:
            return None

    def replace(self, key: str, content: bytes, version: Version | None) -> Version | None:
        """Put an object only where the one that is there has still this version, or with None where none is there.

        Returns:
            The new version; None where another was put meanwhile.

        Raises StoreError: the store cannot be written, or does not say whether it was.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        failed: StoreError | None = None
        try:
            with self._telling("written"):
                done = obstore.put(self._store, key, content, mode=version or "create")
            return _version(done)
        except (AlreadyExistsError, PreconditionError):
            pass
        except StoreError as error:
            failed = error
        # The answer to a put that succeeded may be lost, and its repetition be refused.
        there = self.read(key)
        if there is not None and there[0] == content:
            return there[1]
        if failed is not None:
            raise failed
        return None

    def put(self, key: str, content: bytes | Path) -> None:
        """Put an object. Raises StoreError: the store cannot be written."""
        import obstore

        part = _BLOCK if isinstance(content, bytes) else max(_BLOCK, content.stat().st_size // _MOST_PARTS)
        with self._telling("written"):
            obstore.put(self._store, key, content, chunk_size=part)

    def download(self, key: str, path: Path, expected: str) -> None:
        """Write an object with the checksum `expected` to `path`; the checksum is not compared.

        Raises FileNotFoundError: there is no such object; StoreError: the store cannot be read.
        """
        import obstore

        with self._telling("read"), path.open("wb") as file:
            for start in range(0, size_of(expected), _BLOCK):
                end = min(start + _BLOCK, size_of(expected))
                file.write(repeated(lambda s=start, e=end: obstore.get_range(self._store, key, start=s, end=e)))  # type: ignore[misc]

    def listed(self, prefix: str) -> dict[str, tuple[int, datetime]]:
        """Size and time of the last change, by the store's clock, of all objects below `prefix`."""
        import obstore

        with self._telling("read"):
            objects = repeated(lambda: [of for some in obstore.list(self._store, prefix) for of in some])
        return {of["path"]: (of["size"], of["last_modified"]) for of in objects}

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; those that are gone already are no error."""
        import obstore

        def delete(key: str) -> None:
            with suppress(FileNotFoundError):  # Google's and Azure's stores tell.
                obstore.delete(self._store, key)

        with self._telling("written"):
            self.each(delete, keys)

    def each(self, do: Callable[[Item], None], items: Iterable[Item]) -> None:
        """Do something for each of `items`, some at once; the first error is raised."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in pool.map(do, items):
                pass

    def see_that_it_compares(self) -> None:
        """See that the store can be written, and refuses a put whose condition does not hold.

        Raises StoreError: it cannot, or it does not refuse.
        """
        key = f"probe-{uuid4().hex}"
        self.replace(key, b"1", None)
        try:
            wrongly = self.replace(key, b"2", None) or self.replace(key, b"3", {"e_tag": '"0"', "version": "1"})
        finally:
            self.delete([key])
        if wrongly is not None:
            raise StoreError(
                f"{self.url}: the store ignores the conditions of a put (If-None-Match, If-Match), so that two builds "
                "could publish at once: use a store that has conditional puts"
            )


def repeated(do: Callable[[], Item]) -> Item:
    """What `do` returns; it is done again where the connection is cut within an answer."""
    from obstore.exceptions import GenericError

    for _ in range(_ATTEMPTS - 1):
        try:
            return do()
        except GenericError as error:
            if "retries" in str(error):  # `obstore` has tried again what it does.
                raise
    return do()


def _whole(answer: Any) -> tuple[bytes, Version]:
    return bytes(answer.bytes()), _version(answer.meta)


def _version(of: Mapping[str, Any]) -> Version:
    return {name: of[name] for name in ("e_tag", "version") if of.get(name)}
