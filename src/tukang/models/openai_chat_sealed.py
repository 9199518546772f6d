"""What a chat completions server seals beside a message, and wants back with it: verbatim, and nobody else does.

Pure. Two kinds are known. `reasoning_details` of a message (OpenRouter, Snowflake, and what routes like them): a list of
items of the types `reasoning.text`, `reasoning.summary` and `reasoning.encrypted`, some with a `signature`. And
`extra_content` of a call (Google's OpenAI-compatible server): `{"google": {"thought_signature": …}}`.

All of one reply becomes one `Opaque` part at its end: `{"reasoning_details": […], "calls": {"0": {"name": …, "extra_content":
…}}}`; calls by their place, and with their name, should one before them be discarded. Sources:
https://openrouter.ai/docs/use-cases/reasoning-tokens (preserving reasoning blocks) and
https://ai.google.dev/gemini-api/docs/thought-signatures (OpenAI compatibility).
"""

from __future__ import annotations

from typing import Any, cast

from tukang.conversation import Message, Opaque

Fields = dict[str, Any]

GOOGLE_UNSEALED: Fields = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""`extra_content` of a call that Google's model did not make, so that there is no seal: the mark Google names for a history
that comes from elsewhere."""

_GROWING = ("text", "summary")


class Sealed:
    """What one reply brings, under construction.

    Args:
        provider: who keeps it.
    """

    __slots__ = ("_calls", "_details", "_provider")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._details: list[Fields] = []
        self._calls: dict[str, Fields] = {}

    def add_details(self, details: Any, *, whole: bool) -> None:
        """Take in `reasoning_details` of a message, or of a piece of one.

        Args:
            details: the list.
            whole: whether it is that of a whole message. In a stream an item of words comes in pieces, all with the same
                type, `index` and `id`; a sealed one comes in one.
        """
        for detail in cast("list[Any]", details) if isinstance(details, list) else ():
            if isinstance(detail, dict):
                item = cast("Fields", detail)
                if whole or not self._details or not _goes_on(self._details[-1], item):
                    self._details.append(dict(item))
                else:
                    _grow(self._details[-1], item)

    def add_extra(self, place: int, name: str, extra: Any) -> None:
        """Take in the `extra_content` of a call, by its place and its name."""
        if isinstance(extra, dict) and extra:
            self._calls[str(place)] = {"name": name, "extra_content": extra}

    def part(self, *, cut: bool) -> Opaque | None:
        """All of it as one part; None where nothing came.

        Args:
            cut: the reply was cut off while it was still reasoning, so that what came of its reasoning is not sealed.
        """
        data: Fields = {}
        if self._details and not cut:
            data["reasoning_details"] = self._details
        if self._calls:
            data["calls"] = self._calls
        return Opaque(self._provider, data) if data else None


def sealed_by(message: Message, provider: str | None) -> tuple[list[Any], dict[int, Any]]:
    """What goes back with a message: its `reasoning_details`, and the `extra_content` of its calls by their place.

    Args:
        message: an assistant's. One that was continued holds a part for each of its pieces; only the last can have calls.
        provider: the server that is asked; None for one that takes nothing back.
    """
    details: list[Any] = []
    extras: dict[int, Any] = {}
    for part in message.parts:
        if type(part) is Opaque and part.provider == provider:
            data = _dict(part.data)
            listed = data.get("reasoning_details")
            details += cast("list[Any]", listed) if isinstance(listed, list) else []
            calls = _dict(data.get("calls"))
            for place, call in enumerate(message.calls):
                kept = _dict(calls.get(str(place)))
                if kept.get("name") == call.name and kept.get("extra_content"):
                    extras[place] = kept["extra_content"]
    return details, extras


def _goes_on(last: Fields, item: Fields) -> bool:
    """Whether a piece belongs to the item before it."""
    kind = item.get("type")
    same = kind == last.get("type") and item.get("index") == last.get("index")
    words = any(isinstance(one.get(name), str) for one in (last, item) for name in _GROWING)
    ids = item.get("id") in (None, last.get("id")) or last.get("id") is None
    return same and words and ids and kind != "reasoning.encrypted"


def _grow(last: Fields, item: Fields) -> None:
    for name, value in item.items():
        before = last.get(name)
        if name in _GROWING and isinstance(before, str) and isinstance(value, str):
            last[name] = before + value
        elif value not in (None, "") or name not in last:
            last[name] = value


def _dict(value: Any) -> Fields:
    return cast("Fields", value) if isinstance(value, dict) else {}
