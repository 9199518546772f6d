"""Which addresses a tool may ask for: a list of hosts, and how one URL is held against it. Pure.

A URL is read once, by the library that also sends it, so that no second reader understands it differently.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec
from yarl import URL

from tukang.connectors.addresses import is_public
from tukang.errors import ToolDefinitionError

_LONGEST = 4_096
_STRANGE = re.compile(r"[\x00-\x20\x7f\\]")
_NUMERIC = re.compile(r"\d+|0[xX][0-9a-fA-F]*|[0-9a-fA-F]*:[0-9a-fA-F:.]*")
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_PORTS = {"https": 443, "http": 80}


class NotAllowed(Exception):
    """A URL that the tool may not ask for. The model reads why."""


class Host(msgspec.Struct, frozen=True):
    """One entry of the list.

    Args:
        said: as its author wrote it.
        name: in small letters and ASCII, without the `*.`.
        below: whether it is every name below that one, and not that one itself.
        port: the only port; None for the usual one.
    """

    said: str
    name: str
    below: bool
    port: int | None


class Hosts:
    """The list.

    Args:
        hosts: `api.example.com`, `*.example.com` (all names below it), `api.example.com:8443`.
        http: whether `http://` is possible beside `https://`.
        private: whether addresses are possible that are not public.
        label: whose list it is.

    Raises:
        ToolDefinitionError: an entry is not a host, or stands for nearly everything.
    """

    def __init__(self, hosts: Collection[str], *, http: bool, private: bool, label: str) -> None:
        if isinstance(hosts, str) or not hosts:
            raise ToolDefinitionError(f"{label}: hosts is a list of at least one, such as ['api.example.com']")
        self._hosts = [_read(host, label, private=private) for host in hosts]
        self._schemes = ("https", "http") if http else ("https",)
        self.private = private

    @property
    def said(self) -> Sequence[str]:
        """The list as it was written."""
        return [host.said for host in self._hosts]

    def checked(self, text: str, base: URL | None = None) -> tuple[URL, Host]:
        """A URL as it may be asked for, and the entry that allows it.

        Args:
            text: what was asked for.
            base: the page whose redirect it is; what it leads to may be relative, and may not be less safe.

        Raises:
            NotAllowed: it may not.
        """
        url = _parsed(text, base)
        if url.scheme not in self._schemes or (base is not None and base.scheme == "https" != url.scheme):
            raise NotAllowed(f"only {' and '.join(f'{scheme}://' for scheme in self._schemes)} addresses are possible")
        if url.user is not None or url.password is not None or "@" in url.raw_authority:
            raise NotAllowed("an address with a user's name in it is not possible")
        name = (url.raw_host or "").lower().rstrip(".")
        if not (_NAME.fullmatch(name) or ":" in name):
            raise NotAllowed("it names no host")
        if not self.private and _numeric(name) and not is_public(name):
            raise NotAllowed(f"{name} is not an address of the open internet")
        for host in self._hosts:
            if _fits(host, name) and url.port == (host.port or _PORTS[url.scheme]):
                return url.with_host(name).with_fragment(None), host
        port = "" if url.port == _PORTS[url.scheme] else f":{url.port}"
        raise NotAllowed(f"{name}{port} is not among the hosts that may be asked: {', '.join(self.said)}")


def _parsed(text: str, base: URL | None) -> URL:
    if len(text) > _LONGEST or _STRANGE.search(text):
        raise NotAllowed("it is not an address: it is too long, or has blanks, control characters or backslashes in it")
    try:
        url = URL(text)
        url = url if base is None else base.join(url)
        _ = url.port, url.raw_host
    except (ValueError, TypeError) as error:
        raise NotAllowed("it is not an address that can be read") from error
    if not url.absolute:
        raise NotAllowed("it must be a whole address, beginning with https://")
    return url


def _fits(host: Host, name: str) -> bool:
    return name.endswith(f".{host.name}") if host.below else name == host.name


def _numeric(name: str) -> bool:
    """Whether a host is, or may be taken for, a number: also in the notations that only old resolvers know."""
    return all(_NUMERIC.fullmatch(part) for part in name.split(".")) or ":" in name


def _read(said: str, label: str, *, private: bool) -> Host:
    below = said.startswith("*.")
    rest = said[2:] if below else said
    try:
        url = URL(f"//{rest}")
        name, port = (url.raw_host or "").lower().rstrip("."), url.explicit_port
        whole = not url.user and not url.path.strip("/") and not url.query_string
    except ValueError:
        name, port, whole = "", None, False
    if not name or not whole or "*" in name or _STRANGE.search(said):
        raise ToolDefinitionError(
            f"{label}: {said!r} is not a host: write api.example.com, *.example.com or api.example.com:8443"
        )
    if below and "." not in name:
        raise ToolDefinitionError(f"{label}: {said!r} stands for nearly everything: name the hosts")
    here = name == "localhost" or name.endswith(".localhost") or (_numeric(name) and not is_public(name))
    if here and not private:
        raise ToolDefinitionError(f"{label}: {said!r} is not an address of the open internet; private=True allows it")
    return Host(said, name, below, port)
