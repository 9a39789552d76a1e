from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quern.jobs.crawl.download import ForbiddenAddressError, GuardedResolver, guarded, refused_address
from quern.jobs.crawl.urls import AddressGuard

PRIVATE = (
    "127.0.0.1 10.0.0.1 172.16.5.4 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 255.255.255.255 "
    "192.0.2.1 198.18.0.1 192.88.99.1 168.63.129.16 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 "
    "2001:db8::1 fec0::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 "
    "2002:7f00:1:: 2002:a9fe:a9fe::"
).split()
PUBLIC = "93.184.216.34 8.8.8.8 2606:2800:220:1::1 2a00:1450:4001::1".split()


@pytest.mark.parametrize("address", [*PRIVATE, *PUBLIC])
def test_private_addresses_in_all_their_forms_are_refused_and_public_ones_permitted(address: str) -> None:
    assert AddressGuard().permits(address) == (address in PUBLIC)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "2130706433", "0x7f000001", "127.0.0.1.nip.example"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not AddressGuard(["0.0.0.0/0"]).permits(text)


def test_a_named_network_is_permitted_and_no_other() -> None:
    guard = AddressGuard(["10.1.0.0/16", "fd00::/8"])
    assert guard.permits("10.1.2.3")
    assert guard.permits("fd00::1")
    assert not guard.permits("10.2.0.1")
    assert not guard.permits("127.0.0.1")
    assert not guard.permits("::ffff:127.0.0.1")


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_never_more_open_than_itself(address: ipaddress.IPv4Address) -> None:
    guard = AddressGuard()
    if not guard.permits(str(address)):
        for form in (f"::ffff:{address}", f"::{address}", f"64:ff9b::{address}"):
            assert not guard.permits(form)


def test_a_connection_to_a_refused_address_is_not_opened() -> None:
    opened: list[tuple[str, int]] = []
    connect = guarded(lambda host, port, *_: opened.append((host, port)), AddressGuard())
    connect("8.8.8.8", 80, None)
    with pytest.raises(ForbiddenAddressError, match="allow_private"):
        connect("169.254.169.254", 80, None)
    assert opened == [("8.8.8.8", 80)]


class Reactor:
    """A reactor whose name server answers what it is told, anew each time."""

    def __init__(self, answers: list[list[str]]) -> None:
        self.nameResolver = self
        self._answers: Iterator[list[str]] = iter(answers)

    def resolveHostName(self, receiver: Any, name: str, port: int, *_: object) -> None:  # noqa: N802
        from twisted.internet.address import IPv4Address

        receiver.resolutionBegan(None)
        for host in next(self._answers):
            receiver.addressResolved(IPv4Address("TCP", host, port))
        receiver.resolutionComplete()


class Receiver:
    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []

    def resolutionBegan(self, _: object) -> None:  # noqa: N802
        pass

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        self.found.append((address.host, address.port))

    def resolutionComplete(self) -> None:  # noqa: N802
        pass


def resolve(resolver: GuardedResolver, name: str, port: int = 80) -> list[tuple[str, int]]:
    receiver = Receiver()
    resolver.resolveHostName(receiver, name, port)
    return receiver.found


def test_an_answer_is_filtered_and_a_name_that_is_rebound_is_refused() -> None:
    answers = [["10.0.0.1", "93.184.216.34"], ["127.0.0.1"]]
    resolver = GuardedResolver(Reactor(answers), 0, AddressGuard(), {})
    assert resolve(resolver, "both.example") == [("93.184.216.34", 80)]
    assert refused_address("both.example") is None
    assert resolve(resolver, "rebound.example") == []
    assert refused_address("rebound.example") == "127.0.0.1"


def test_connect_to_leads_a_host_elsewhere_but_not_past_the_guard() -> None:
    elsewhere = {"a.example": "93.184.216.34:8443", "b.example:80": "127.0.0.1:1", "c.example": "[::1]:8080"}
    resolver = GuardedResolver(Reactor([["8.8.8.8"]]), 0, AddressGuard(), elsewhere)
    assert resolve(resolver, "A.example", 443) == [("93.184.216.34", 8443)]
    assert resolve(resolver, "b.example", 80) == []
    assert resolve(resolver, "b.example", 443) == [("8.8.8.8", 443)]
    assert resolve(resolver, "c.example") == []
