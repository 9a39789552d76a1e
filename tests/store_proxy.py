"""A server between Quern and an object store that fails as a test says: errors, delays, cut connections."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

FAULTS = ("error", "slow", "cut", "cut within", "lost answer", "error after")


@dataclass
class StoreProxy:
    """Where requests go, and which fault each meets."""

    behind: str
    url: str = ""
    fault: Callable[[str, str], str | None] = lambda *_: None  # Method and path to one of `FAULTS`.
    conditional: bool = True  # Whether conditions of puts reach the store.
    asked: list[str] = field(default_factory=list)  # Method and path of each request.
    one_put: threading.Lock = field(default_factory=threading.Lock)  # S3 compares and puts in one step; moto does not.


@contextmanager
def store_proxy(behind: str) -> Iterator[StoreProxy]:
    """A proxy on a free port of loopback."""
    proxy = StoreProxy(behind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            proxy.asked.append(f"{self.command} {self.path}")
            fault = proxy.fault(self.command, self.path)
            if fault == "slow":
                time.sleep(0.5)
            status, headers, content = (500, [], b"") if fault in ("error", "cut") else self._forwarded(body)
            if fault == "error after":
                status, headers, content = 500, [], b""
            if fault not in ("cut", "lost answer"):
                self._send(status, headers, content, len(content) // (2 if fault == "cut within" else 1))
            if fault in ("cut", "lost answer", "cut within"):
                self.close_connection = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)

        def _send(self, status: int, headers: list[tuple[str, str]], content: bytes, sent: int) -> None:
            dropped = {"connection", "transfer-encoding", "server", "date", "content-length"}
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in dropped:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:sent])
            self.wfile.flush()

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

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - the names of the base class

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        proxy.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield proxy
        server.shutdown()
