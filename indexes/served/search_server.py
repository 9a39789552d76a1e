"""An Elasticsearch or OpenSearch server, by HTTP: requests that are tried again, bulk writes, and who made an index.

Not by the official clients: each refuses the other's server, and neither caps what it reads.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import httpx
from pydantic import BaseModel, Field, ValidationError

from quern.schemas.digests import settings_digest
from quern.schemas.errors import QuernError
from quern.schemas.settings import SearchServerSettings

# Major versions whose requests these are.
_MAJORS: Final = {"elasticsearch": (8, 9), "opensearch": (2, 3)}
_FOR_NOW: Final = frozenset({408, 429, 502, 503, 504})
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_MOST_BYTES: Final = 64 << 20
_TOLD: Final = 300


class SearchServerError(QuernError):
    """A server that cannot be used, or refuses a request; the message says what to do.

    Attributes:
        status: HTTP status; 0 where there was no answer.
    """

    def __init__(self, told: str, status: int = 0) -> None:
        super().__init__(told)
        self.status = status


class About(BaseModel):
    """What Quern writes into the mapping of an index that it makes, under `_meta.quern`."""

    alias: str  # Name by which the index is published.
    table: str  # Table that it holds.
    snapshot: str  # Build id of the snapshot.
    digests: dict[str, str]  # Digests of the tables that its documents are made of.
    layout: str  # Digest of its mapping and settings.
    rows: int  # Documents of the whole table.
    base: str | None = None  # Snapshot of the index that it began as a copy of; None where it began empty.
    checksum: str = ""  # Checksum of the table's file, whose rows have this order.
    sent: int = 0  # Changes that the server has confirmed, in their order: an interrupted export goes on from there.
    complete: bool = False  # Whether it holds the whole table.
    replaced: str | None = None  # Index that was published before it.

    @property
    def index(self) -> str:
        """Name of the index: no two contents have one name."""
        return f"{self.alias}-{self.snapshot.lower()}-{settings_digest([self.table, self.digests, self.layout])[:8]}"

    def meta(self) -> dict[str, Any]:
        """What stands as `_meta` in the mapping."""
        return {"quern": self.model_dump()}


class Index(BaseModel):
    """An index of the server."""

    name: str
    about: About | None  # None where another program made it.
    aliases: set[str] = Field(default_factory=set)


class SearchServer:
    """A connection to a server; use it as a context manager.

    Requests that end in 408, 429, 502, 503, 504 or a lost connection are tried again with growing pauses: each may be
    sent twice without harm. Credentials are read from the environment alone: `ELASTICSEARCH_API_KEY`, or
    `ELASTICSEARCH_USER` and `ELASTICSEARCH_PASSWORD`; of OpenSearch `OPENSEARCH_...`.
    """

    def __init__(self, settings: SearchServerSettings) -> None:
        self.settings = settings
        self.kind = settings.kind
        key, user, password = (
            os.environ.get(f"{self.kind.upper()}_{name}", "").strip() for name in ("API_KEY", "USER", "PASSWORD")
        )
        self._secrets = [secret for secret in (key, password) if secret]
        self._client = httpx.Client(
            base_url=settings.url,
            headers={"Authorization": f"ApiKey {key}"} if key else {},
            auth=(user, password) if user and not key else None,
            timeout=httpx.Timeout(settings.timeout, connect=min(10.0, settings.timeout)),
        )

    def __enter__(self) -> Self:
        return self.opened()

    def opened(self) -> Self:
        """Ask the server what it is.

        Raises SearchServerError: it does not answer, is of the other kind, or of a version that Quern does not know.
        """
        try:
            # Once: who mistyped an address should not wait for it.
            version = self.call("GET", "/", tries=1).get("version", {})
            kind = "opensearch" if version.get("distribution") == "opensearch" else "elasticsearch"
            number = str(version.get("number", ""))
        except AttributeError:
            kind = number = ""
        major = number.partition(".")[0]
        if not major.isdecimal():
            raise self.error("it does not answer as a search server")
        if kind != self.kind:
            raise self.error(f"it is {kind} {number}; name it with `--to {kind}`, or elasticsearch.kind={kind}")
        if int(major) not in _MAJORS[kind]:
            versions = " and ".join(map(str, _MAJORS[kind]))
            raise self.error(f"it has version {number}; Quern knows {kind} {versions}")
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._client.close()

    def error(self, told: str, status: int = 0) -> SearchServerError:
        """An error of this server, on one line and without the credentials."""
        line = " ".join(told.split())
        for secret in self._secrets:
            line = line.replace(secret, "[secret]")
        return SearchServerError(f"{self.kind} at {self.settings.url}: {line}", status)

    def call(
        self, method: str, path: str, body: object = None, *, lines: bytes = b"", tries: int | None = None
    ) -> dict[str, Any]:
        """The JSON of an answer.

        Args:
            method: HTTP method.
            path: Path, with its query.
            body: What is sent as JSON; None for nothing.
            lines: What is sent instead, as lines of JSON.
            tries: Tries at most; by default as many as the settings say.

        Raises SearchServerError: there is none after all tries, or the server refuses the request.
        """
        content = lines or (b"" if body is None else json.dumps(body).encode())
        kind = {"Content-Type": "application/x-ndjson" if lines else "application/json"} if content else {}
        most = tries or self.settings.tries
        for number in range(1, most + 1):
            try:
                status, answer = self._exchange(self._client.build_request(method, path, content=content, headers=kind))
            except httpx.HTTPError as error:
                failed = self.error(f"no answer to {method} {path}: {type(error).__name__} {error}")
            else:
                if status < 300:
                    try:
                        parsed = json.loads(answer)
                    except ValueError:
                        parsed = None
                    if not isinstance(parsed, dict):
                        raise self.error(f"it answers what is no JSON object: {answer[:_TOLD]!r}")
                    return parsed
                failed = self.error(f"HTTP {status} to {method} {path}: {self._reason(answer)}", status)
                if number > 1 and (
                    (method == "DELETE" and status == 404) or (status == 400 and b"resource_already_exists" in answer)
                ):
                    return {}
                if status not in _FOR_NOW:
                    raise failed
            if number < most:
                pause(number)
        raise failed

    def _exchange(self, request: httpx.Request) -> tuple[int, bytes]:
        """Status and body of an answer. Raises httpx.HTTPError: there is none in time, or a larger one than is read."""
        late = time.monotonic() + self.settings.timeout
        answer = self._client.send(request, stream=True)
        try:
            parts, size = [], 0
            for part in answer.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > _MOST_BYTES:
                    raise httpx.DecodingError(f"an answer of more than {_MOST_BYTES >> 20} MiB")
                if time.monotonic() > late:  # The client's own limit is for each part alone.
                    raise httpx.ReadTimeout(f"not all of it came within {self.settings.timeout:g} s")
            return answer.status_code, b"".join(parts)
        finally:
            answer.close()

    @staticmethod
    def _reason(answer: bytes) -> str:
        try:
            error = json.loads(answer)["error"]
            return str(error["reason"] if isinstance(error, dict) else error)[:_TOLD]
        except (ValueError, KeyError, TypeError):
            return answer[:_TOLD].decode("utf-8", "replace")

    def indexes(self, alias: str) -> dict[str, Index]:
        """The indexes that an alias leads to, and those whose names begin with it and a hyphen."""
        answer = self.call("GET", f"/{alias},{alias}-*?ignore_unavailable=true")
        indexes = {}
        for name, index in answer.items():
            try:
                about = About.model_validate(index["mappings"]["_meta"]["quern"])
            except (KeyError, TypeError, ValidationError):
                about = None
            indexes[name] = Index(name=name, about=about, aliases=set(index.get("aliases", ())))
        return indexes

    def published(self, alias: str, indexes: Mapping[str, Index]) -> tuple[Index, About] | None:
        """The index that an alias leads to; None where there is no such alias.

        Raises SearchServerError: another program made that index, or the alias leads to several.
        """
        matches = [index for index in indexes.values() if alias in {index.name, *index.aliases}]
        if len(matches) > 1:
            raise self.error(f"{alias} leads to {len(matches)} indexes; Quern publishes one: name another with --index")
        return (matches[0], self.own(matches[0])) if matches else None

    def own(self, index: Index) -> About:
        """What Quern wrote of the index. Raises SearchServerError: another program made it."""
        if index.about is None:
            raise self.error(
                f"another program made the index {index.name}, which is left as it is; name another with --index, or "
                "delete that one first"
            )
        return index.about

    def tell(self, about: About) -> None:
        """Write into the mapping of an index what it is."""
        self.call("PUT", f"/{about.index}/_mapping", {"_meta": about.meta()})

    def count(self, name: str) -> int:
        """Documents of an index, the last written among them."""
        self.call("POST", f"/{name}/_refresh")
        return int(self.call("GET", f"/{name}/_count")["count"])

    def bulk(self, name: str, changes: Sequence[tuple[str, bytes]]) -> None:
        """Write documents by their ids; one without a source is deleted.

        What the server has no room for at the time is sent again, by itself.

        Raises SearchServerError: it refuses a document; the others of these may be written.
        """
        pending, path = list(changes), f"/{name}/_bulk"
        for number in range(1, self.settings.tries + 1):
            lines = b"".join(_lines(key, source) for key, source in pending)
            items = self.call("POST", path, lines=lines).get("items", [])
            if len(items) != len(pending):
                raise self.error(f"it tells of {len(items)} documents, and {len(pending)} were sent")
            results = [next(iter(item.values())) for item in items]
            again = [change for change, one in zip(pending, results, strict=True) if one["status"] in _FOR_NOW]
            refused = [
                one
                for (_, source), one in zip(pending, results, strict=True)
                if one["status"] >= 300 and one["status"] not in _FOR_NOW and (source or one["status"] != 404)
            ]
            if refused:
                first = refused[0]
                raise self.error(
                    f"{len(refused)} of {len(pending)} documents sent are refused, the first, {first['_id']}: "
                    f"{self._reason(json.dumps(first).encode())}"
                )
            if not again:
                return
            pending = again
            pause(number)
        raise self.error(f"{len(pending)} documents were put off {self.settings.tries} times: it is overloaded")


def _lines(key: str, source: bytes) -> bytes:
    action = json.dumps({"index" if source else "delete": {"_id": key}}).encode()
    return action + b"\n" + (source + b"\n" if source else b"")


def pause(number: int) -> None:
    """Wait before the next try: longer each time, and not as long as others do."""
    time.sleep(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (number - 1)) * (0.75 + random.random() / 4))
