"""Scrapy's HTTP/1.1 downloader with a bound on what a server may send before a body begins."""

from __future__ import annotations

from typing import Any, Final

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import HEADER, STATUS

# Four times what Apache and nginx let a client send; no server needs more.
MOST_HEADER_BYTES: Final = 256 << 10


class BoundedProtocol(_LenientHTTP11ClientProtocol):  # type: ignore[misc]
    """Closes a connection whose headers do not end."""

    _counted: Any = None
    _bytes = 0

    def dataReceived(self, bytes: bytes) -> None:  # noqa: N802, A002 - the interface's names
        """Pass `bytes` on, while the headers are within bounds."""
        parser = self._parser
        if parser is not None and parser.state in (STATUS, HEADER):
            if parser is not self._counted:
                self._counted, self._bytes = parser, 0
            self._bytes += len(bytes)
            if self._bytes > MOST_HEADER_BYTES:
                self.transport.abortConnection()
                return
        super().dataReceived(bytes)


class _BoundedFactory(_LenientHTTP11ClientFactory):  # type: ignore[misc]
    def buildProtocol(self, _: IAddress) -> BoundedProtocol:  # noqa: N802
        return BoundedProtocol(self._quiescentCallback)


class BoundedHandler(HTTP11DownloadHandler):  # type: ignore[misc]
    """Downloads over connections of `BoundedProtocol`."""

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self._pool._factory = _BoundedFactory  # where Scrapy puts its own
