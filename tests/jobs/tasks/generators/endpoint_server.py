"""An OpenAI-compatible endpoint on this machine that the tests script: it counts and keeps what it is asked."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from quern.jobs.queries.rules.rule import written_pairs
from quern.schemas.settings import GeneratorSettings

MODEL = "little-model"


@dataclass(frozen=True)
class Said:
    """What the endpoint answers to one request."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str = "stop"
    seconds: float = 0.0
    hang_up: bool = False
    body: bytes | None = None  # sent as it is
    tokens: tuple[tuple[str, float], ...] = ()  # with their log-probabilities


Script = Callable[[int, dict[str, Any]], Said]


def passage_of(body: dict[str, Any]) -> str:
    """The passage in the prompt of a request."""
    found = re.search(r"<passage>\n(.*?)\n</passage>", body["messages"][0]["content"], re.DOTALL)
    assert found, body
    return found[1]


def pairs_json(*pairs: tuple[str, str]) -> str:
    return json.dumps({"pairs": [{"question": q, "answer": a} for q, a in pairs]}, ensure_ascii=False)


def well(number: int, body: dict[str, Any]) -> Said:
    """What a model that does as it is told would say."""
    written = written_pairs(passage_of(body), None, None, 3)
    return Said(pairs_json(*((pair.question, pair.answer) for pair in written)))


class Handler(BaseHTTPRequestHandler):
    """Lists models and completes chats, as the endpoint's script says."""

    protocol_version = "HTTP/1.1"

    @property
    def endpoint(self) -> Endpoint:
        return self.server.endpoint  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        if not self.path.endswith("/models"):
            self._send(404, {"error": {"message": "no such path"}})
        elif self._admitted():
            if self.endpoint.listing is not None:
                self._send(200, self.endpoint.listing)
                return
            data = [{"id": name, "object": "model", "created": 0, "owned_by": ""} for name in self.endpoint.models]
            self._send(200, {"object": "list", "data": data})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._admitted():
            return
        if body["model"] != MODEL:
            self._send(404, {"error": {"message": f"the model {body['model']} does not exist"}})
            return
        if body["messages"][0]["content"].startswith("Return the smallest JSON"):
            # By this small request the client tells its own faults from the endpoint's.
            self.endpoint.probed += 1
            refused = Said(f"{self.endpoint.without} is not supported", status=400)
            self._answer(refused if self.endpoint.without in body else self.endpoint.probe)
            return
        with self.endpoint.answering(body) as number:
            said = self.endpoint.script(number, body)
            time.sleep(said.seconds)
            self._answer(said)

    def _answer(self, said: Said) -> None:
        if said.hang_up:
            self.close_connection = True
        elif said.body is not None:
            self._send(said.status, said.body, said.headers)
        elif said.status != 200:
            self._send(said.status, {"error": {"message": said.text}}, said.headers)
        else:
            self._send(200, completion(said))

    def _admitted(self) -> bool:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.endpoint.key and given != self.endpoint.key:
            self._send(401, {"error": {"message": f"Incorrect API key provided: {given}"}})
            return False
        return True

    def _send(self, status: int, tree: object, headers: Mapping[str, str] | None = None) -> None:
        body = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Clients that time out hang up: the tests see it on their side."""


class Endpoint:
    """The endpoint: `script` is given the number of the request and its body."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.models = [MODEL]
        self.listing: bytes | None = None
        self.key = ""
        self.probe = Said("{}")
        self.without = ""  # A field that the small request may not have.
        self.probed = 0
        self.asked: list[dict[str, Any]] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.endpoint = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @contextmanager
    def answering(self, body: dict[str, Any]) -> Iterator[int]:
        """Count a request while it is answered; gives its number."""
        with self._lock:
            number = len(self.asked)
            self.asked.append(body)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield number
        finally:
            with self._lock:
                self.at_once -= 1

    @contextmanager
    def running(self) -> Iterator[Endpoint]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join()

    def generator(self, **settings: Any) -> GeneratorSettings:
        """The settings of a generator that asks it."""
        given = {"tries": 1, "timeout": 5.0, **settings}
        return GeneratorSettings(kind="openai", model=MODEL, url=self.url, **given)

    def overrides(self, **settings: Any) -> list[str]:
        """The same by name, as a build is given them."""
        chosen = {"kind": "openai", "model": MODEL, "url": self.url, "retries": 1, **settings}
        return [f"generator.{name}={value}" for name, value in chosen.items()]

    def options(self, **settings: Any) -> list[str]:
        """The same for the command line."""
        return [word for setting in self.overrides(**settings) for word in ("--set", setting)]

    def stop(self) -> None:
        """No further connection is taken; those that stand stay until they are used again."""
        self._server.shutdown()
        self._server.server_close()


Serve = Callable[[Script], Endpoint]  # The fixture `serve`.


def completion(said: Said) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": said.finish, "message": {"role": "assistant", "content": said.text}}
    if said.tokens:
        choice["logprobs"] = {"content": [{"token": token, "logprob": chance} for token, chance in said.tokens]}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
