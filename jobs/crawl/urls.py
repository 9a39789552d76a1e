"""Addresses of pages: one form for each, where they may lead, which are traps; and which hosts may be connected to."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote_plus, urljoin, urlsplit, urlunsplit

import tldextract
from w3lib.url import canonicalize_url, safe_url_string

from quern.schemas.errors import RejectError
from quern.schemas.settings import CrawlSettings

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_BREAKS: Final = str.maketrans("", "", "\t\r\n")
_BLANK: Final = "".join(map(chr, range(33)))
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;?]*", re.IGNORECASE)


class BadAddressError(RejectError):
    """An address that is not one of a web page."""


@dataclass(frozen=True)
class Address:
    """The address of a page in its one form: lower-case host, no default port, no fragment, no session id.

    Attributes:
        url: The address.
        host: Host name, ASCII (IDNA).
        origin: Scheme and authority: what one robots.txt speaks for.
        port: Port.
        path: Path, percent-encoded.
        query: Query without its question mark.
        key: Digest that addresses of one page share: of Scrapy's canonical form, with parameters in order.
    """

    url: str
    host: str
    origin: str
    port: int
    path: str
    query: str

    @cached_property
    def key(self) -> bytes:
        """16 bytes."""
        return hashlib.blake2b(canonicalize_url(self.url).encode(), digest_size=16).digest()

    @cached_property
    def path_key(self) -> bytes:
        """The same for all addresses that differ in their query alone, 16 bytes."""
        return hashlib.blake2b(f"{self.origin}{self.path}".encode(), digest_size=16).digest()


@lru_cache(maxsize=1 << 16)
def parse_address(url: str, session_parameters: tuple[str, ...] = ()) -> Address:
    """The address that `url`, an absolute one, names.

    Raises:
        BadAddressError: `scheme`, `malformed` or `credentials`.
    """
    url = url.strip(_BLANK).translate(_BREAKS)  # as browsers do (WHATWG URL, section 4.4)
    if url.partition(":")[0].lower() not in _DEFAULT_PORTS:
        raise BadAddressError("scheme", f"{_redacted(url)} is not http or https")
    try:
        parts = urlsplit(safe_url_string(url))
        host, port = (parts.hostname or "").rstrip("."), parts.port
        if not host:
            raise ValueError("it has no host")
        if not host.isascii():
            host = host.encode("idna").decode()
        # What breaks a line would make of one seed two.
        if len(host) > 253 or not host.isprintable() or any(c in host for c in " %<>\"'\\^`{|}"):
            raise ValueError("its host name is not valid")
    except (ValueError, UnicodeError) as error:
        why = "" if "@" in url else f": {error}"  # The error may quote what stands before the host.
        raise BadAddressError("malformed", f"{_redacted(url)} is no address{why}") from None
    if parts.username is not None:
        raise BadAddressError("credentials", "an address with a user name is not followed")
    default = _DEFAULT_PORTS[parts.scheme]
    authority = f"[{host}]" if ":" in host else host
    if port not in (None, default):
        authority += f":{port}"
    path = _PATH_SESSION.sub("", _without_dots(parts.path or "/"))
    query = parts.query
    if query and session_parameters:
        named = ((part, unquote_plus(part.partition("=")[0]).lower()) for part in query.split("&"))
        query = "&".join(part for part, name in named if name not in session_parameters)
    return Address(
        urlunsplit((parts.scheme, authority, path, query, "")),
        host,
        f"{parts.scheme}://{authority}",
        port or default,
        path,
        query,
    )


def _redacted(url: str) -> str:
    """`url` for a message: cut, and without what stands before an `@`, which may be a name and a password."""
    before, at, after = url.rpartition("@")
    scheme, colon, _ = before.partition(":")
    return repr(f"{scheme if colon else ''}{colon}***@{after}"[:200] if at else url[:200])


def joined(base: str, url: str) -> str:
    """`url` as an address, relative to `base`; as it is where none can be made of it, for `parse_address` to refuse."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def _without_dots(path: str) -> str:
    """`path` without `.` and `..` (RFC 3986, section 5.2.4)."""
    if "/." not in path:
        return path
    segments: list[str] = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    slash = "/" if path.endswith(("/.", "/..")) and segments and segments[-1] else ""
    return "/" + "/".join(segments) + slash


def trap(address: Address, settings: CrawlSettings) -> str | None:
    """Why `address` looks like one of endlessly many, or like no page; null if it does not."""
    if len(address.url) > settings.max_url_length:
        return "url_too_long"
    segments = [s for s in address.path.split("/") if s]
    if len(segments) > settings.max_path_segments:
        return "path_too_deep"
    if len(segments) > settings.max_repeats and max(Counter(segments).values()) > settings.max_repeats:
        return "path_repeats"
    if segments and PurePosixPath(segments[-1].lower()).suffix[1:] in _no_pages():
        return "extension"
    return None


@cache
def _no_pages() -> frozenset[str]:
    """Endings of what is no page. Only crawls ask, and Scrapy may not be installed where none are made."""
    from scrapy.linkextractors import IGNORED_EXTENSIONS

    return frozenset(IGNORED_EXTENSIONS)


def worker_of(host: str, workers: int) -> int:
    """Which of `workers` crawl processes `host` belongs to; a site with and without `www.` to the same one."""
    digest = hashlib.blake2b(host.removeprefix("www.").encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % workers


class Scope:
    """Which addresses a crawl may follow, by its seeds: their hosts (with or without `www.`), domains or folders."""

    def __init__(self, seeds: Iterable[Address], settings: CrawlSettings) -> None:
        self._kind = settings.scope
        self._places: dict[str, list[str]] = {}
        self._ports = set(settings.ports)
        for seed in seeds:
            self._ports.add(seed.port)
            folders = self._places.setdefault(self._place(seed.host), [])
            folder = seed.path[: seed.path.rfind("/") + 1]
            if folder not in folders:
                folders.append(folder)

    def _place(self, host: str) -> str:
        return registered_domain(host) if self._kind == "domain" else host.removeprefix("www.")

    def refuses(self, address: Address) -> str | None:
        """Reason why `address` is not followed; null if it is."""
        folders = self._places.get(self._place(address.host))
        if folders is None:
            return "out_of_scope"
        if self._kind == "prefix" and not any(address.path.startswith(folder) for folder in folders):
            return "out_of_scope"
        return None if self.permits_port(address.port) else "port"

    def permits_port(self, port: int) -> bool:
        """Whether a crawl may connect to `port`."""
        return port in self._ports


# The snapshot of the public suffix list in the package: nothing is downloaded. Private suffixes count, so that two
# customers of one hosting service are two domains.
_suffixes = tldextract.TLDExtract(suffix_list_urls=(), fallback_to_snapshot=True, include_psl_private_domains=True)


@lru_cache(maxsize=1 << 14)
def registered_domain(host: str) -> str:
    """The domain that was registered of `host` (public suffix list); an address or unknown name is its own."""
    suffixes = _suffixes(host)
    return suffixes.top_domain_under_public_suffix or host


@lru_cache(maxsize=1 << 14)
def has_public_suffix(host: str) -> bool:
    """Whether `host` is a name under a public suffix: `ferries.example.org` is, `report.pdf` is not."""
    suffixes = _suffixes(host)
    return bool(suffixes.suffix and suffixes.domain)


IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# IPv4 addresses inside IPv6 ones: NAT64 (RFC 6052), its local prefix (RFC 8215), IPv4-compatible (RFC 4291).
_EMBEDDING: Final = tuple(ipaddress.IPv6Network(n) for n in ("64:ff9b::/96", "64:ff9b:1::/96", "::/96"))
# Beside what `is_global` knows: 6to4 relays (RFC 7526), a cloud's metadata host outside the private blocks.
_CLOSED: Final = tuple(ipaddress.ip_network(n) for n in ("192.88.99.0/24", "168.63.129.16/32", "fec0::/10"))


class AddressGuard:
    """Says which addresses a crawl may connect to: global unicast ones, and those of networks named in settings."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = tuple(ipaddress.ip_network(n, strict=False) for n in allowed)

    def permits(self, address: str) -> bool:
        """Whether `address`, an IP address as text, may be connected to; what is no IP address may not.

        An IPv6 address must be open itself, and so must the IPv4 addresses that it stands for or tunnels to.
        """
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        every: list[IpAddress | None] = [parsed]
        if isinstance(parsed, ipaddress.IPv6Address):
            every += [parsed.ipv4_mapped, parsed.sixtofour, *(parsed.teredo or ())]
            if any(parsed in network for network in _EMBEDDING) and int(parsed) > 1:
                every.append(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF))
        return all(self._is_open(each) for each in every if each is not None)

    def _is_open(self, address: IpAddress) -> bool:
        if any(address in network for network in self._allowed):
            return True
        closed = any(address in network for network in _CLOSED)
        return address.is_global and not address.is_multicast and not address.is_reserved and not closed


def split_target(target: str) -> tuple[str, int]:
    """Address and port of `IP:PORT` or `[IP]:PORT`.

    Raises:
        ValueError: It is something else.
    """
    parts = urlsplit(f"//{target}")
    if parts.port is None or parts.hostname is None:
        raise ValueError(f"{target!r} is not IP:PORT")
    return str(ipaddress.ip_address(parts.hostname)), parts.port
