"""Takes secrets out of events before they are written down. What happens in the turn itself goes on with the whole ones.

What a secret is stands in `tukang.secrets`; here is where in an event one can stand. Ids, names, digests and the seals of
providers are never touched: the journal must fold to the same turn. A call whose arguments lost something is marked
(`redacted`): it cannot be run from the journal. Digests were taken before, over the whole arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from tukang.conversation import Message, Thinking, ToolCall
from tukang.loop.events import CallChecked, CallEdited, Event
from tukang.secrets import REMOVED, Remover, secrets_in
from tukang.tools.outcome import Outcome

S = TypeVar("S", bound=msgspec.Struct)

_STRUCTURE = frozenset(
    (
        *("turn", "session", "agent", "call", "calls", "digest", "key", "source", "id", "call_id", "wire_id", "name"),
        *("provider", "media_type", "signature", "role", "kind", "stopped", "finish", "model", "models", "tool_choice"),
        *("language", "limits", "policies", "contracts", "returns", "grounding", "usage", "forced", "answer"),
        *("principal", "rules"),
    )
)
"""Fields that say what a thing is or which one is meant: nobody's words."""


class Redaction:
    """What is taken out of everything that is written to a store.

    Args:
        hook: the user's own: from a text to the text that may be written. It sees every text after the patterns. When it
            raises, or returns no text, nothing of that text is written.
        environment: whose secret-looking values are taken out; this process's own when None.
        secrets: more texts to take out.
    """

    def __init__(
        self,
        hook: Callable[[str], str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        self.hook = hook
        known = secrets_in(os.environ if environment is None else environment)
        self._remover = Remover({*known, *secrets}) if hook is None else _Hooked({*known, *secrets}, hook)

    def event(self, event: Event) -> Event:
        """The event as it may be written; the same object where there is nothing to take out."""
        return self._struct(event)

    def value(self, value: Any) -> Any:
        """A JSON value as it may be written."""
        return self._remover.value(value)

    def text(self, text: str) -> str:
        """A text as it may be written."""
        return self._remover.text(text)

    def message(self, message: Message) -> Message:
        """A message as it may be written; the same object where there is nothing to take out."""
        return self._struct(message)

    def arguments(self, text: str) -> str:
        """Arguments of a call, as canonical JSON; untouched where there is nothing to take out."""
        return self._remover.arguments(text)

    def outcome(self, outcome: Outcome) -> Outcome:
        """What became of a call, as it may be written."""
        return self._struct(outcome)

    def _struct(self, value: S) -> S:
        changes: dict[str, Any] = {}
        for field in value.__struct_fields__:
            if field not in _STRUCTURE:
                before = getattr(value, field)
                after = self._any(field, before)
                if after is not before:
                    changes[field] = after
        if not changes:
            return value
        if isinstance(value, ToolCall | CallChecked | CallEdited) and "arguments" in changes:
            changes["redacted"] = True
        if isinstance(value, Thinking):
            changes["signature"] = None  # the seal was of the words as they were
        return msgspec.structs.replace(value, **changes)

    def _any(self, field: str, value: Any) -> Any:
        """A value without secrets; the same object where there was none."""
        if isinstance(value, str):
            clean = self._remover.arguments(value) if field == "arguments" else self._remover.text(value)
            return value if clean == value else clean
        if isinstance(value, msgspec.Struct):
            return self._struct(value)
        if isinstance(value, tuple):
            several = cast("tuple[Any, ...]", value)
            parts = tuple(self._any(field, one) for one in several)
            return several if all(map(_same, parts, several)) else parts
        whole = cast("object", value)
        clean = self._remover.value(whole)  # a provider's own data, or a mapping of texts
        return whole if clean == whole else clean


class _Hooked(Remover):
    """With the user's own last word on every text."""

    def __init__(self, secrets: Iterable[str], hook: Callable[[str], str]) -> None:
        super().__init__(secrets)
        self._hook = hook

    def text(self, text: str) -> str:
        try:
            said = cast("object", self._hook(super().text(text)))
        except Exception:
            return REMOVED
        return said if isinstance(said, str) else REMOVED


def _same(one: Any, other: Any) -> bool:
    return one is other
