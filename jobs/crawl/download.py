"""What stands between a crawl and the network: guarded addresses, bounded headers, polite retries, bodies as received.

No connection of a crawl leads into a private network. Names are checked where they are resolved and every connection
once more where it is opened, on the address itself, so that redirects, robots.txt, sitemaps, odd spellings of addresses
and names whose answer changes between two look-ups (DNS rebinding) all pass the same gate.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.resolver import CachingHostnameResolver, HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IAddress, IHostnameResolver, IResolutionReceiver
from twisted.web._newclient import HEADER, STATUS
from zope.interface import implementer, provider  # type: ignore[import-untyped]

from quern.jobs.crawl.urls import AddressGuard, split_target

# Answers that ask the crawler to stay away for a while (RFC 6585, section 4; RFC 9110, section 15.6.4).
PAUSING: Final = frozenset({429, 503})
# Four times what Apache and nginx let a client send; no server needs more.
MOST_HEADER_BYTES: Final = 256 << 10
_MOST_REFUSALS: Final = 10_000

# The last hosts whose every address was refused, with the address: to say why a page was lost.
_refusals: OrderedDict[str, str] = OrderedDict()


def refused_address(host: str) -> str | None:
    """The address that `host` had, if it was refused."""
    return _refusals.get(host.lower())


class ForbiddenAddressError(OSError):
    """A connection that the guard refused."""


class GuardedResolver(CachingHostnameResolver):  # type: ignore[misc]
    """Scrapy's caching resolver, which hands out only what the guard permits, and knows hosts served elsewhere.

    Settings: `QUERN_ALLOW_PRIVATE`, a list of networks; `QUERN_CONNECT_TO`, a map of HOST or HOST:PORT to IP:PORT.
    Twisted resolves addresses given as such through it too, in all spellings that the system knows (decimal, octal).
    """

    def __init__(self, reactor: Any, cache_size: int, guard: AddressGuard, elsewhere: Mapping[str, str]) -> None:
        super().__init__(reactor, cache_size)
        self._guard = guard
        self._elsewhere = {name.lower(): split_target(target) for name, target in elsewhere.items()}

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> GuardedResolver:
        """The resolver of a crawl, by its settings."""
        guard = AddressGuard(crawler.settings.getlist("QUERN_ALLOW_PRIVATE"))
        elsewhere = crawler.settings.getdict("QUERN_CONNECT_TO")
        return cls(reactor, crawler.settings.getint("DNSCACHE_SIZE"), guard, elsewhere)

    def install_on_reactor(self) -> None:
        """Take over name resolution and the opening of connections."""
        super().install_on_reactor()
        self.reactor.connectTCP = guarded(self.reactor.connectTCP, self._guard)

    def resolveHostName(  # noqa: N802 - the interface's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Any = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:
        """Resolve `hostName` as Twisted's interface says."""
        name = hostName.lower().rstrip(".")
        receiver = _Filter(resolutionReceiver, hostName, self._guard)
        target = self._elsewhere.get(f"{name}:{portNumber}") or self._elsewhere.get(name)
        if target is None:
            return super().resolveHostName(receiver, hostName, portNumber, addressTypes, transportSemantics)
        kind = IPv6Address if ":" in target[0] else IPv4Address
        resolution = HostResolution(hostName)
        receiver.resolutionBegan(resolution)
        receiver.addressResolved(kind(transportSemantics, *target))
        receiver.resolutionComplete()
        return resolution


# zope's decorators are applied by hand: mypy cannot see through them.
implementer(IHostnameResolver)(GuardedResolver)


class _Filter:
    """Passes on the addresses of a resolution that the guard permits."""

    def __init__(self, receiver: Any, name: str, guard: AddressGuard) -> None:
        self._receiver = receiver
        self._name = name
        self._guard = guard
        self._passed = False
        self._refused = ""
        self.resolutionBegan = receiver.resolutionBegan

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        if self._guard.permits(address.host):
            self._passed = True
            self._receiver.addressResolved(address)
        else:
            self._refused = address.host

    def resolutionComplete(self) -> None:  # noqa: N802
        if self._refused and not self._passed:
            _refusals[self._name.lower()] = self._refused
            if len(_refusals) > _MOST_REFUSALS:
                _refusals.popitem(last=False)
        self._receiver.resolutionComplete()


provider(IResolutionReceiver)(_Filter)


def guarded(connect: Callable[..., Any], guard: AddressGuard) -> Callable[..., Any]:
    """`connect`, a reactor's connectTCP, for permitted addresses alone."""

    def connect_permitted(host: str, port: int, *arguments: Any, **named: Any) -> Any:
        if not guard.permits(host):
            raise ForbiddenAddressError(f"{host} is not a public address (crawl.allow_private)")
        return connect(host, port, *arguments, **named)

    return connect_permitted


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


class PoliteRetry(RetryMiddleware):  # type: ignore[misc]
    """Scrapy's retries, with the wait that a server asks for, and none for addresses that the guard refused."""

    def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        """Note how long to stay away, then retry as Scrapy does."""
        request.meta.pop("retry_after", None)
        request.meta["pauses"] = response.status in PAUSING
        if response.status in PAUSING:
            seconds = retry_after(response.headers.get("Retry-After", b"").decode("latin-1"), time.time())
            if seconds is not None:
                request.meta["retry_after"] = seconds
        return super().process_response(request, response)

    def process_exception(self, request: Any, exception: Exception, spider: Any = None) -> Any:
        """Retry what may go better the next time."""
        request.meta.pop("retry_after", None)
        request.meta["pauses"] = False
        if isinstance(exception, ForbiddenAddressError) or refused_address(urlsplit(request.url).hostname or ""):
            return None
        return super().process_exception(request, exception)


class RawResponse:
    """Keeps the response as it was received, before Scrapy undoes its content coding."""

    def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        """Pass `response` on."""
        request.meta["raw"] = response.copy()  # undoing the coding changes the headers of the other
        return response


def retry_after(value: str, now: float) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, section 10.2.3): a number, or a date; null if neither."""
    value = value.strip()
    if re.fullmatch(r"\d{1,9}", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
