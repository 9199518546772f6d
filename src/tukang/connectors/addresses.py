"""Which addresses of the network are everybody's, and a resolver that gives no others: what a name means is looked up once,
checked, and connected to as it was checked.

Source: IANA's registries of special-purpose addresses, as Python's `ipaddress` has them; RFC 6052 (NAT64), RFC 3056
(6to4), RFC 4380 (Teredo).
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

_REFUSED = [
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's own services, at an address that looks public
        "192.0.0.0/24",  # what protocols were given, and a cloud's own services
        "192.88.99.0/24",  # relays of 6to4
        "::/96",  # IPv4-compatible: no such address is in use any more
        "64:ff9b:1::/48",  # NAT64 of one's own network
        "fec0::/10",  # what private addresses were before fc00::/7
        "2001::/32",  # Teredo
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
    )
]
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Lookup = Callable[[str, int, int], Awaitable[list[str]]]
"""Name, port, family → addresses."""


def is_public(address: str) -> bool:
    """Whether a numeric address is one of the open internet; where it carries another one, whether that is."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    inner = _inner(ip)
    if inner is not None:
        return is_public(str(inner))
    if isinstance(ip, IPv6Address) and ip.scope_id is not None:
        return False
    if any(ip in network for network in _REFUSED if network.version == ip.version):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


def _inner(ip: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(ip, IPv4Address):
        return None
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.sixtofour


class NotPublicError(OSError):
    """A name means an address that is not one of the open internet."""


class Resolver(AbstractResolver):
    """Resolves names to public addresses. One that means any other is refused whole: who serves both is not to choose.

    Args:
        lookup: how a name is looked up; the system's way if None.
        private: take all addresses.
    """

    def __init__(self, lookup: Lookup | None, *, private: bool) -> None:
        self._lookup, self._private = lookup or _by_system, private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._lookup(host, port, family)
        if not addresses:
            raise OSError(None, f"{host} has no address")
        if not self._private and not all(map(is_public, addresses)):
            raise NotPublicError(None, f"{host} means an address that is not public")
        return [_result(host, port, address) for address in addresses]

    async def close(self) -> None:
        """Nothing is held."""


async def _by_system(host: str, port: int, family: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _result(host: str, port: int, address: str) -> ResolveResult:
    family: Any = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=family,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
