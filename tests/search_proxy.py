"""A server between Quern and a search server, or in place of one, that answers some requests as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

Answer = tuple[int, bytes] | None


@dataclass
class Proxy:
    """Where requests go, and what was asked."""

    url: str = ""  # Its own address.
    behind: str = ""  # The server that answers what `rule` does not.
    rule: Callable[[str, str, bytes], Answer] = lambda *_: None  # Method, path and body to an answer of its own.
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)  # Method, path and body of each request.

    def documents(self) -> int:
        """Documents that were written or deleted by bulk."""
        bodies = [body for _, path, body in self.asked if path.endswith("/_bulk")]
        return sum(set(json.loads(line)) <= {"index", "delete"} for body in bodies for line in body.splitlines())


def as_json(value: Any, status: int = 200) -> Answer:
    return status, json.dumps(value).encode()


def saying(number: str, **more: str) -> Answer:
    """What a server of this version says of itself."""
    return as_json({"version": {"number": number, **more}})


@contextmanager
def proxied(behind: str = "") -> Iterator[Proxy]:
    """A proxy on a free port of loopback."""
    proxy = Proxy(behind=behind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
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

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - the names of the base class

        def log_message(self, *_: object) -> None:
            pass

    with httpx.Client(timeout=60) as client, ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        proxy.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield proxy
        server.shutdown()
