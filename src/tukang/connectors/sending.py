"""The headers that a developer gives to a tool: which host gets which, and that nobody sees what is secret among them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

import msgspec

from tukang.connectors.hosts import Host
from tukang.errors import ToolDefinitionError
from tukang.secrets import Remover
from tukang.tools.secret import Secret

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET = re.compile(r"authorization|cookie|token|secret|password|key", re.IGNORECASE)
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect", "upgrade"})


class Headers:
    """Headers for hosts.

    Args:
        label: whose they are.
        headers: entry of the list of hosts → name → value.
        hosts: the list.

    Raises:
        ToolDefinitionError: they are for a host that is not in the list, or are no headers.
    """

    def __init__(self, label: str, headers: Mapping[str, Mapping[str, str | Secret]], hosts: Collection[str]) -> None:
        self._fixed: dict[str, dict[str, str]] = {}
        self._filled: dict[str, dict[str, str]] = {}
        names: dict[str, str] = {}
        for host, given in headers.items():
            if host not in hosts:
                raise ToolDefinitionError(f"{label}: headers are given for {host!r}, which is not one of its hosts")
            if not isinstance(cast("object", given), Mapping):
                raise ToolDefinitionError(f"{label}: headers are {{host: {{name: value}}}}")
            self._fixed[host], self._filled[host] = {}, {}
            for name, value in given.items():
                _must_be_header(label, name, value)
                if isinstance(value, Secret):
                    self._filled[host][name] = names.setdefault(value.name, f"secret_{len(names) + 1}")
                else:
                    self._fixed[host][name] = value
        self.secrets = tuple((parameter, name) for name, parameter in names.items())
        """(parameter, name of the secret) of what the host fills in."""
        self._said = [value for given in self._fixed.values() for name, value in given.items() if _SECRET.search(name)]

    @property
    def secret(self) -> bool:
        """Whether anything among them is."""
        return bool(self.secrets or self._said)

    def of(self, host: Host, secrets: Mapping[str, str]) -> Mapping[str, str]:
        """The headers for one entry of the list.

        Raises:
            ValueError: a secret has a line's end in it.
        """
        filled = {name: secrets[parameter] for name, parameter in self._filled.get(host.said, {}).items()}
        if any("\r" in value or "\n" in value or "\0" in value for value in filled.values()):
            raise ValueError("a secret for a header has a line's end in it")
        return {**self._fixed.get(host.said, {}), **filled}

    def clean(self, value: Any, secrets: Mapping[str, str]) -> Any:
        """What came back, without what was sent as a secret."""
        hidden = [one for one in (*self._said, *secrets.values()) if one]
        text = msgspec.json.encode(value).decode() if hidden else ""
        found = any(msgspec.json.encode(one).decode()[1:-1] in text for one in hidden)
        return Remover(hidden).value(value) if found else value


def _must_be_header(label: str, name: str, value: object) -> None:
    if not _NAME.fullmatch(name) or name.lower() in _OURS:
        raise ToolDefinitionError(f"{label}: {name!r} is not a header that can be given")
    if isinstance(value, Secret):
        return
    if not isinstance(value, str) or re.search(r"[\r\n\0]", value):
        raise ToolDefinitionError(f"{label}: the header {name!r} must be a text in one line, or Secret('NAME')")
