"""A web that the tests serve: any host name, over HTTP or TLS, from one loopback port; it counts what it is asked."""

from __future__ import annotations

import asyncio
import datetime
import ssl
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Asked:
    host: str
    path: str
    headers: Mapping[str, str]
    at: float


@dataclass(frozen=True)
class Answer:
    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    parts: Callable[[], AsyncIterator[bytes]] | None = None  # a body that comes slowly, or never ends


Route = Callable[[Asked], Answer]


def page(*links: str, title: str = "A page", head: str = "", text: str = "") -> Answer:
    items = "".join(f'<li><a href="{link}">x</a></li>' for link in links)
    text = text or f"This is the page called {title}, which says a little of what the harbour was like in the old days."
    head = f"<head><title>{title}</title>{head}</head>"
    return Answer(f"<!doctype html><html>{head}<body><ul>{items}</ul><p>{text}</p></body></html>")


class Site:
    """Serves `route` from a thread of its own until it is closed."""

    def __init__(self, route: Route, tls: Path | None = None) -> None:
        self.route = route
        self.asked: list[Asked] = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._tls = certificate(tls) if tls else None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls))
        self.port: int = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def counts(self) -> Counter[str]:
        """How often each address was asked for, as HOST/path."""
        return Counter(f"{a.host}{a.path}" for a in self.asked)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").split("\r\n")
                pairs = [line.partition(":") for line in lines if line]
                headers = {name.lower(): value.strip() for name, _, value in pairs}
                asked = Asked(headers.get("host", ""), first.split(" ")[1], headers, time.monotonic())
                self.asked.append(asked)
                await self._answer(self.route(asked), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        if answer.status == 0:  # the parts are all that is sent, head and all
            async for part in answer.parts() if answer.parts else ():
                writer.write(part)
                await writer.drain()
            return
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        headers = {**answer.headers}
        if answer.parts:
            headers["Transfer-Encoding"] = "chunked"
        elif answer.status != 304:
            headers["Content-Length"] = str(len(body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {answer.status} X\r\n{lines}\r\n".encode("latin-1"))
        if not answer.parts:
            writer.write(body)
        else:
            async for part in answer.parts():
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        await writer.drain()


def certificate(directory: Path) -> ssl.SSLContext:
    """A TLS context with a certificate that nobody signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests.example")])
    now = datetime.datetime.now(datetime.UTC)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    built = built.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = directory / "certificate.pem"
    path.write_bytes(private + built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
