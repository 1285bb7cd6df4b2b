"""Resolves names, and keeps requests away from addresses that are not on the public internet.

A page on a public site can link to `http://169.254.169.254/` or to a name that resolves to it. The check is made on the
very address a socket is about to connect to, so no spelling and no second DNS answer gets around it.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import AbstractEventLoop, Future, Semaphore
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import Thread
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult

from sitemirror.events import Listener, Warned, nobody
from sitemirror.reasons import Cause, Reason
from sitemirror.urls import origin, parts

Address = IPv4Address | IPv6Address

# Networks that the IANA IPv4 special-purpose registry does not call globally reachable, and multicast. Entries inside
# 192.0.0.0/24 that it does call reachable are anycast services no website lives on.
_NOT_PUBLIC_4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local; cloud metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, withdrawn
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_UNICAST_6: Final = IPv6Network("2000::/3")  # all that has been handed out so far
_NOT_PUBLIC_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: any IPv4 address inside, and no relay left to reach it by
        "3fff::/20",  # documentation
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")
_MAX_CHECKED_ORIGINS: Final = 1024
_DEFAULT_PORTS: Final = (80, 443)  # of one site: http redirects to https
_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


def is_public(address: str | Address) -> bool:
    """True for globally reachable unicast by IANA's registries. IPv4 inside IPv6 counts as IPv4."""
    try:
        found = ip_address(address) if isinstance(address, str) else address
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return False
        if found.ipv4_mapped is not None:
            return is_public(found.ipv4_mapped)
        if found in _NAT64:
            # Networks without IPv4 reach every IPv4 site through this prefix.
            return is_public(IPv4Address(int(found) & 0xFFFF_FFFF))
        return found in _GLOBAL_UNICAST_6 and not any(found in network for network in _NOT_PUBLIC_6)
    return not any(found in network for network in _NOT_PUBLIC_4)


@lru_cache(maxsize=1024)
def literal(host: str) -> Address | None:
    """The address that a URL's normalised host spells out; None for a name."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


class AddressRefused(OSError):
    """An address that must not be connected to."""

    def __init__(self, address: str) -> None:
        self.cause = Cause(Reason.ADDRESS_REFUSED, address)
        super().__init__(self.cause.text)


class AddressGuard(AbstractResolver):
    """Resolves names and opens sockets for the connector, and lets neither yield a forbidden address.

    A start URL on a private address exempts the addresses that its host has when the run starts, at its own port alone:
    another port of the same machine is another service. The default ports of http and https count as one.
    """

    def __init__(
        self,
        start_url: str,
        resolver: AbstractResolver,
        *,
        proxies: Iterable[str] = (),
        on_event: Listener = nobody,
    ) -> None:
        self._start_url = start_url
        self._resolver = resolver
        self._proxies = frozenset(_endpoint(url) for url in proxies)
        self._tell = on_event
        self._exempt: set[tuple[Address, int]] = set()
        self._checked_origins: set[str] = set()  # origins that are no forbidden address literals
        self._checked_targets: dict[tuple[str, int], str | None] = {}
        self._proxy_addresses: set[tuple[Address, int]] = set()

    async def admit_start(self) -> None:
        """Resolve the start host once; exempt its addresses that are not public, at the start port."""
        host, port = _endpoint(self._start_url)
        for each in _DEFAULT_PORTS if port in _DEFAULT_PORTS else (port,):
            if (address := literal(host)) is not None:
                endpoints = [(address, each)]
            else:
                try:
                    found = await self._lookup(host, each, socket.AF_UNSPEC)
                except OSError:
                    return  # The first request will say so.
                endpoints = [(ip_address(entry["host"]), entry["port"]) for entry in found]
            self._exempt.update(endpoint for endpoint in endpoints if not is_public(endpoint[0]))
            if not self._exempt:
                return

    def allows(self, address: str | Address, port: int) -> bool:
        """True if connections to this address and port are allowed."""
        if isinstance(address, str):
            try:
                address = ip_address(address)
            except ValueError:
                return False
        return (address, port) in self._exempt or is_public(address)

    def check_literal(self, url: str) -> None:
        """Refuses a URL that spells out a forbidden address."""
        start = origin(url)
        if start in self._checked_origins:
            return
        host, port = _endpoint(url)
        if (address := literal(host)) is not None and not self.allows(address, port):
            raise self._refuse(address, port)
        if len(self._checked_origins) >= _MAX_CHECKED_ORIGINS:
            self._checked_origins.clear()
        self._checked_origins.add(start)

    async def check_target(self, url: str) -> None:
        """Refuse targets of proxied requests that are private as seen from here."""
        self.check_literal(url)
        target = host, port = _endpoint(url)
        if literal(host) is None and target not in self._checked_targets:
            try:
                found = await self._lookup(host, port, socket.AF_UNSPEC)
            except OSError:
                found = []  # Behind a proxy, names often resolve nowhere but there.
            refused = (entry["host"] for entry in found if not self.allows(entry["host"], entry["port"]))
            self._checked_targets[target] = next(refused, None)
        if (address := self._checked_targets.get(target)) is not None:
            raise self._refuse(address, port)

    def is_proxy(self, url: str) -> bool:
        """True if the URL points at a proxy itself, whose address is exempt."""
        return bool(self._proxies) and _endpoint(url) in self._proxies

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The allowed addresses of `host`. Called by the connector, which connects to nothing else."""
        found = await self._lookup(host, port, family)
        if (host, port) in self._proxies:
            self._proxy_addresses.update((ip_address(entry["host"]), port) for entry in found)
            return found
        allowed = [entry for entry in found if self.allows(entry["host"], entry["port"])]
        if not allowed:
            raise self._refuse(found[0]["host"], port)
        if len(allowed) < len(found):
            self._tell(Warned(f"{host} has addresses that are not public; they are not used"))
        return allowed

    def open_socket(self, addr_info: Any) -> socket.socket:
        """Makes the socket for one attempt. The last line: nothing that got here unchecked is connected to."""
        family, kind, protocol, _, endpoint = addr_info
        address = ip_address(endpoint[0])
        known_proxy = (address, endpoint[1]) in self._proxy_addresses or (str(address), endpoint[1]) in self._proxies
        if not known_proxy and not self.allows(address, endpoint[1]):
            raise self._refuse(address, endpoint[1])
        return socket.socket(family=family, type=kind, proto=protocol)

    def _refuse(self, address: str | Address, port: int) -> AddressRefused:
        """The error for a forbidden address; with its port if that is what makes it one."""
        shown = str(address)
        if any(shown == str(exempt) for exempt, _ in self._exempt):
            shown = f"[{shown}]:{port}" if ":" in shown else f"{shown}:{port}"
        return AddressRefused(shown)

    async def _lookup(self, host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        name = host.rstrip(".").lower()
        if name == "localhost" or name.endswith(".localhost"):
            # RFC 6761: these never leave the machine, so DNS is not asked.
            return [
                ResolveResult(
                    hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=_NUMERIC
                )
            ]
        try:
            found = await self._resolver.resolve(host, port, family)
        except UnicodeError:
            # Python's own IDNA step refuses labels that DNS could not hold.
            raise socket.gaierror(socket.EAI_NONAME, "no such host") from None
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return found

    async def close(self) -> None:
        await self._resolver.close()


def _endpoint(url: str) -> tuple[str, int]:
    found = parts(url)
    return found.host.strip("[]"), int(found.port or (443 if found.scheme == "https" else 80))


MAX_LOOKUPS: Final = 8
"""Concurrent lookups of one run. More of them wait, but never for those of another run."""

_Found = list[tuple[Any, ...]]


class SystemResolver(AbstractResolver):
    """The system's resolver, with a thread for each lookup.

    asyncio has a handful of threads for all lookups. A name server that does not answer blocks one for half a minute,
    so a few dead names would stop the lookups of every other site, and the end of the program too. A thread that
    nobody waits for any more still counts until it ends.
    """

    def __init__(self) -> None:
        self._free = Semaphore(MAX_LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Addresses of `host`. Raises OSError, or UnicodeError for what cannot be a name."""
        loop = asyncio.get_running_loop()
        await self._free.acquire()
        answer: Future[_Found] = loop.create_future()
        try:
            # A daemon, so that the program can end while the name server is silent.
            Thread(
                target=self._resolve_in_thread,
                args=(host, port, family, loop, answer),
                name=f"look up {host}",
                daemon=True,
            ).start()
        except RuntimeError as error:  # no thread could be started
            self._free.release()
            raise OSError(str(error)) from None
        return [
            ResolveResult(
                hostname=host, host=_address(endpoint), port=port, family=kind, proto=protocol, flags=_NUMERIC
            )
            for kind, _, protocol, _, endpoint in await answer
            if isinstance(endpoint[0], str)  # else an IPv6 address that this Python was built without
        ]

    def _resolve_in_thread(
        self, host: str, port: int, family: socket.AddressFamily, loop: AbstractEventLoop, answer: Future[_Found]
    ) -> None:
        found: _Found | Exception
        try:
            found = socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        except Exception as error:
            found = error
        try:
            loop.call_soon_threadsafe(self._deliver, answer, found)
        except RuntimeError:
            pass  # The loop has been closed meanwhile.

    def _deliver(self, answer: Future[_Found], found: _Found | Exception) -> None:
        self._free.release()
        if answer.done():  # nobody waits any more
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    async def close(self) -> None:
        """Nothing to close."""


class SharedResolver(AbstractResolver):
    """A resolver that several runs share; none of them closes it."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return await self._resolver.resolve(host, port, family)

    async def close(self) -> None:
        """Left to the owner."""


def _address(endpoint: tuple[Any, ...]) -> str:
    """The address as text; a link-local one with its interface."""
    host, scope = endpoint[0], endpoint[3] if len(endpoint) > 3 else 0
    return f"{host}%{scope}" if scope and "%" not in host else str(host)
