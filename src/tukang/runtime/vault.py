"""The host's secrets, for the functions that need them: fetched just before a call runs, and taken out of whatever comes
back.

Neither arguments nor results hold one, so nothing else in a turn has to know of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from msgspec.structs import replace

from tukang.conversation import Text
from tukang.errors import ConfigurationError
from tukang.secrets import Remover
from tukang.tools.aside import aside
from tukang.tools.context import Tell
from tukang.tools.outcome import Fault, Outcome
from tukang.tools.tool import Tool

Source = Mapping[str, str] | Callable[[str], str | Awaitable[str]]
"""From a secret's name to the secret: a mapping, or a function, which may be async and may take its time."""


class Vault:
    """Where an agent's secrets come from.

    Args:
        source: see `Source`.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._given: set[str] = set() if callable(source) else {value for value in source.values() if value}
        self._remover = Remover(self._given)

    @property
    def known(self) -> frozenset[str]:
        """The secrets that were seen so far; of a mapping, all."""
        return frozenset(self._given)

    async def fetch(self, tool: Tool) -> dict[str, str]:
        """Parameter → secret, for one call of a tool.

        Raises:
            Exception: whatever the host's function raises; `LookupError` when there is no such secret.
        """
        return {parameter: await self._one(name) for parameter, name in tool.signature.secrets}

    async def _one(self, name: str) -> str:
        if not callable(self._source):
            return self._source[name]
        secret: object = await aside(self._source, name)
        if not isinstance(secret, str) or not secret:
            raise LookupError(f"there is no secret {name!r}")
        if secret not in self._given:
            self._given.add(secret)
            self._remover = Remover(self._given)
        return secret

    def clean(self, outcome: Outcome) -> Outcome:
        """The outcome without any of them."""
        remover = self._remover
        parts = tuple(
            [
                replace(part, text=remover.text(part.text)) if isinstance(part, Text) else part
                for part in outcome.content
            ]
        )
        fault = outcome.fault
        if fault is not None:
            hint = None if fault.hint is None else remover.text(fault.hint)
            fault = Fault(fault.kind, remover.text(fault.message), hint)
        return replace(outcome, content=parts, fault=fault)

    def quiet(self, tell: Tell | None) -> Tell | None:
        """A place for progress that lets none of them through."""
        return None if tell is None else lambda percent, message: tell(percent, self._remover.text(message))


def vault_for(source: Source | None, tools: Iterable[Tool]) -> Vault | None:
    """The secrets of an agent with these tools; None where there are none.

    Raises:
        ConfigurationError: a tool needs one that is not there.
    """
    for tool in tools:
        for parameter, name in tool.signature.secrets:
            if source is None or (not callable(source) and not source.get(name)):
                raise ConfigurationError(
                    f"tool {tool.name!r} needs the secret {name!r} for {parameter!r}: give it with Agent(secrets=…)"
                )
    return None if source is None else Vault(source)
