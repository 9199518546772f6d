"""What is taken out of one response, in the house's words, so that two readings of it can be compared.

Values only; it knows no protocol and no file.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tests.wire.steps import Ran
from tukang.conversation import Usage
from tukang.errors import ModelError
from tukang.models.base import Fold, ModelEvent, UsageReported


class Call(msgspec.Struct, frozen=True):
    """One requested call."""

    name: str
    arguments: str
    wire_id: str | None


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a response. A field that is `UNSET` in an expectation was not looked at by whoever recorded it.

    Args:
        error: the error's message, or None where there is none.
        finish: in the provider's words.
        usage: None where no counts came.
        server: the provider's own types of the parts that it ran or added itself, sorted.
        steps: the calls that it ran itself, as steps of a turn.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | msgspec.UnsetType | None = msgspec.UNSET
    refusal: str | msgspec.UnsetType | None = msgspec.UNSET
    usage: Usage | msgspec.UnsetType | None = msgspec.UNSET
    error: str | None = None
    server: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    steps: tuple[Ran, ...] | msgspec.UnsetType = msgspec.UNSET

    def differences(self, got: Extracted) -> list[str]:
        """How `got` differs from this expectation."""
        found: list[str] = []
        for field in self.__struct_fields__:
            mine, yours = getattr(self, field), getattr(got, field)
            if field == "error":
                same = (mine is None) == (yours is None) and (mine or "") in (yours or "")
            else:
                same = mine is msgspec.UNSET or mine == yours
            if not same:
                found.append(f"{field}: expected {_short(mine)}, got {_short(yours)}")
        return found


def extracted(events: Iterable[ModelEvent], error: ModelError | None) -> Extracted:
    """What an adapter's events amount to, up to the error if there was one."""
    fold = Fold()
    counted = False
    for event in events:
        fold.add(event)
        counted = counted or isinstance(event, UsageReported)
    reply = fold.reply()
    return Extracted(
        text=reply.text,
        thinking=reply.thinking,
        calls=tuple(Call(call.name, call.arguments, call.wire_id) for call in reply.calls if not call.permission),
        finish=reply.raw_finish,
        refusal=reply.refusal,
        usage=reply.usage if counted else None,
        error=None if error is None else error.message,
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]} … {text[-80:]} ({len(text)} characters)"
