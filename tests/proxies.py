"""Servers between Quern and a search server or an object store, which answer or fail as a test says."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx

FAULTS = ("error", "slow", "cut", "cut within", "lost answer", "error after")
Answer = tuple[int, bytes] | None


class _Handler(BaseHTTPRequestHandler):
    """Gives each request with its body to `answer`."""

    def answer(self, body: bytes) -> None:
        raise NotImplementedError

    def _handle(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815 - the names of the base class

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _serving(handler: type[_Handler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Proxy:
    """Where requests to a search server go, and what was asked."""

    url: str = ""  # Its own address.
    behind: str = ""  # The server that answers what `rule` does not.
    rule: Callable[[str, str, bytes], Answer] = lambda *_: None  # Method, path and body to an answer of its own.
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)  # Method, path and body of each request.

    def documents(self) -> int:
        bodies = [body for _, path, body in self.asked if path.endswith("/_bulk")]
        return sum(set(json.loads(line)) <= {"index", "delete"} for body in bodies for line in body.splitlines())


def as_json(value: Any, status: int = 200) -> Answer:
    return status, json.dumps(value).encode()


def saying(number: str, **more: str) -> Answer:
    return as_json({"version": {"number": number, **more}})


@contextmanager
def proxied(behind: str = "") -> Iterator[Proxy]:
    """A proxy before a search server, or in place of one."""
    proxy = Proxy(behind=behind)

    class Handler(_Handler):
        def answer(self, body: bytes) -> None:
            proxy.asked.append((self.command, self.path, body))
            answer = proxy.rule(self.command, self.path, body)
            if answer is None:
                kind = {"Content-Type": self.headers.get("Content-Type", "application/json")}
                found = client.request(self.command, proxy.behind + self.path, content=body, headers=kind)
                answer = found.status_code, found.content
            self.send_response(answer[0])
            self.send_header("Content-Length", str(len(answer[1])))
            self.end_headers()
            self.wfile.write(answer[1])

    with httpx.Client(timeout=60) as client, _serving(Handler) as proxy.url:
        yield proxy


@dataclass
class StoreProxy:
    """Where requests to an object store go, and which fault each meets."""

    behind: str
    url: str = ""
    fault: Callable[[str, str], str | None] = lambda *_: None  # Method and path to one of `FAULTS`.
    conditional: bool = True  # Whether conditions of puts reach the store.
    asked: list[str] = field(default_factory=list)  # Method and path of each request.
    one_put: threading.Lock = field(default_factory=threading.Lock)  # S3 compares and puts in one step; moto does not.


@contextmanager
def store_proxy(behind: str) -> Iterator[StoreProxy]:
    """A proxy before an object store: errors, delays, cut connections."""
    proxy = StoreProxy(behind)

    class Handler(_Handler):
        protocol_version = "HTTP/1.1"

        def answer(self, body: bytes) -> None:
            proxy.asked.append(f"{self.command} {self.path}")
            fault = proxy.fault(self.command, self.path)
            if fault == "slow":
                time.sleep(0.5)
            status, headers, content = (500, [], b"") if fault in ("error", "cut") else self._forwarded(body)
            if fault == "error after":
                status, headers, content = 500, [], b""
            if fault not in ("cut", "lost answer"):
                dropped = {"connection", "transfer-encoding", "server", "date", "content-length"}
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in dropped:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // (2 if fault == "cut within" else 1)])
                self.wfile.flush()
            if fault in ("cut", "lost answer", "cut within"):
                self.close_connection = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)

        def _forwarded(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            conditions = () if proxy.conditional else ("if-match", "if-none-match")
            headers = {name: value for name, value in self.headers.items() if name.lower() not in conditions}
            with proxy.one_put if self.command == "PUT" else nullcontext():
                connection = http.client.HTTPConnection(urlsplit(proxy.behind).netloc, timeout=60)
                connection.request(self.command, self.path, body, headers)
                found = connection.getresponse()
                content = found.read()
                connection.close()
            return found.status, found.getheaders(), content

    with _serving(Handler) as proxy.url:
        yield proxy
