"""The guard on addresses: no connection of a crawl leads into a private network.

Names are checked where they are resolved and every connection once more where it is opened, on the address itself,
so that redirects, robots.txt, sitemaps, odd spellings of addresses and names whose answer changes between two
look-ups (DNS rebinding) all pass the same gate.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from scrapy.resolver import CachingHostnameResolver, HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer, provider  # type: ignore[import-untyped]

from quern.jobs.crawl.guard import AddressGuard, split_target


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
            refusals.add(self._name, self._refused)
        self._receiver.resolutionComplete()


provider(IResolutionReceiver)(_Filter)


class _Refusals:
    """The hosts whose every address was refused, the last few thousand of them: to say why a page was lost."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, str] = OrderedDict()

    def add(self, host: str, address: str) -> None:
        self._hosts[host.lower()] = address
        if len(self._hosts) > 10_000:
            self._hosts.popitem(last=False)

    def address(self, host: str) -> str | None:
        """The address that `host` had, if it was refused."""
        return self._hosts.get(host.lower())


refusals = _Refusals()


def guarded(connect: Callable[..., Any], guard: AddressGuard) -> Callable[..., Any]:
    """`connect`, a reactor's connectTCP, for permitted addresses alone."""

    def connect_permitted(host: str, port: int, *arguments: Any, **named: Any) -> Any:
        if not guard.permits(host):
            raise ForbiddenAddressError(f"{host} is not a public address (crawl.allow_private)")
        return connect(host, port, *arguments, **named)

    return connect_permitted
