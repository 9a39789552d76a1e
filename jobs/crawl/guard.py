"""Which addresses a crawl may connect to: those that anybody can, and those of networks that settings name."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# IPv4 addresses inside IPv6 ones: NAT64 (RFC 6052), its local prefix (RFC 8215), IPv4-compatible (RFC 4291).
_EMBEDDING: Final = tuple(ipaddress.IPv6Network(n) for n in ("64:ff9b::/96", "64:ff9b:1::/96", "::/96"))
# Beside what `is_global` knows: 6to4 relays (RFC 7526), a cloud's metadata host outside the private blocks.
_CLOSED: Final = tuple(ipaddress.ip_network(n) for n in ("192.88.99.0/24", "168.63.129.16/32", "fec0::/10"))


class AddressGuard:
    """Says which addresses a crawl may connect to: global unicast ones, and those of networks named in settings."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed: tuple[Network, ...] = tuple(ipaddress.ip_network(n, strict=False) for n in allowed)

    def permits(self, address: str) -> bool:
        """Whether `address`, an IP address as text, may be connected to; what is no IP address may not."""
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return all(self._open(each) for each in (parsed, *_embedded(parsed)))

    def _open(self, address: Address) -> bool:
        if any(address in network for network in self._allowed):
            return True
        closed = any(address in network for network in _CLOSED)
        return address.is_global and not address.is_multicast and not address.is_reserved and not closed


def _embedded(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 address stands for or tunnels to."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found: list[Address | None] = [address.ipv4_mapped, address.sixtofour]
    found += address.teredo or ()
    if any(address in network for network in _EMBEDDING) and int(address) > 1:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def split_target(target: str) -> tuple[str, int]:
    """Address and port of `IP:PORT` or `[IP]:PORT`.

    Raises:
        ValueError: It is something else.
    """
    parts = urlsplit(f"//{target}")
    if parts.port is None or parts.hostname is None:
        raise ValueError(f"{target!r} is not IP:PORT")
    return str(ipaddress.ip_address(parts.hostname)), parts.port
