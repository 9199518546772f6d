"""Neutral parts as parts of a Gemini `Content`: what can be seen, results of functions, and Gemini's own with their seals.

Pure. Which part goes where, and in which order, is `gemini_encode`'s business; the table stands at the top of `gemini`.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from tukang.conversation import File, Image, Opaque, Part, ServerCall, ServerResult, Text, ToolResult
from tukang.models.adapting import answered, is_deeper, read_json

PROVIDER = "gemini"

SEAL = "thoughtSignature"
"""The key of an `Opaque` that seals the part before it; `of` says which kind of part that is."""

_PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_INSIDE = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""What a function may return beside its JSON. Source: https://ai.google.dev/gemini-api/docs/function-calling,
"Multimodal function responses"."""
_EXACT = 2**53
_TEXTUAL = ("text/", "application/json", "application/xml", "application/yaml")


class Asked(msgspec.Struct, frozen=True):
    """One call of the model's message before: our id, the provider's where there is one, and the function's name."""

    id: str
    wire_id: str | None
    name: str

    @property
    def labels(self) -> dict[str, Any]:
        """The provider's id as a field, where there is one."""
        return {} if self.wire_id is None else {"id": self.wire_id}


def shown(part: Part) -> dict[str, Any] | None:
    """What a user's message can hold: text, pictures, documents; None for what is not shown to the model."""
    match part:
        case Text(text):
            return {"text": text} if text else None
        case Image() | File():
            return _media(part)
        case _:
            return None


def _media(part: Image | File) -> dict[str, Any]:
    kind = part.media_type
    if part.data is not None:
        if kind.startswith(_TEXTUAL):
            named = getattr(part, "name", None) or "document"
            return {"text": f"{named}:\n{part.data.decode('utf-8', 'replace')}"}
        if kind in _PICTURES or kind == "application/pdf" or kind.startswith(("audio/", "video/")):
            return _inline(kind, part.data)
        return {"text": f"({_called(part)} of type {kind}, which cannot be read here)"}
    if part.url:
        return {"fileData": {"mimeType": kind, "fileUri": part.url}}
    return {"text": f"({_called(part)}: no longer here)"}


def _called(part: Image | File) -> str:
    return "a picture" if isinstance(part, Image) else f"document {part.name or ''}".strip()


def _inline(kind: str, data: bytes) -> dict[str, Any]:
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(data).decode()}}


# ── results of functions ─────────────────────────────────────────────────────────────────────────────────────────────


def result_parts(
    results: Sequence[ToolResult], asked: Sequence[Asked], *, media_inside: bool, deepest: int
) -> list[dict[str, Any]]:
    """One `functionResponse` for each call, in the order asked, and after the last one what does not fit into them.

    Args:
        results: what stands after the calls.
        asked: the calls.
        media_inside: whether a response may hold pictures itself.
        deepest: levels of nesting that are sent as JSON; what is deeper goes as text.
    """
    parts: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
    for call, result in zip(asked, answered(results, asked), strict=True):
        response = call.labels | {"name": call.name, "response": _response(result, deepest)}
        inside: list[dict[str, Any]] = []
        outside: list[dict[str, Any]] = []
        for one in result.content:
            if isinstance(one, Text):
                continue
            fits = media_inside and one.data is not None and one.media_type in _INSIDE
            if fits:
                inside.append(_inline(one.media_type, one.data or b""))
            else:
                outside.append(_media(one))
        if inside:
            response["parts"] = inside
        if outside:
            after += [{"text": f"Attached by {call.name}:"}, *outside]
        parts.append({"functionResponse": response})
    return parts + after


def _response(result: ToolResult, deepest: int) -> dict[str, Any]:
    """A result as the object Gemini wants: what the function returned, under `output`, or under `error`.

    An object goes as it is, unless it has a field of one of these names itself. What JSON at Google would change (whole
    numbers beyond 2⁵³ become floating) or not read (too deep) goes as text.
    """
    text = result.text
    value = read_json(text)
    exact = isinstance(value, dict | list) and not is_deeper(value, deepest) and _is_exact(value)
    if isinstance(value, dict) and exact:
        fields = cast("dict[str, Any]", value)
        if result.fault:
            return fields if "error" in fields else {"error": fields}
        return fields if fields and "error" not in fields and "output" not in fields else {"output": fields}
    return {"error" if result.fault else "output": value if exact else text}


def _is_exact(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_exact, cast("dict[str, Any]", value).values()))
    if isinstance(value, list):
        return all(map(_is_exact, cast("list[Any]", value)))
    return not isinstance(value, int) or abs(value) <= _EXACT


# ── Gemini's own ─────────────────────────────────────────────────────────────────────────────────────────────────────


def seal(signature: str, of: str) -> Opaque:
    """The seal of the part before it.

    Args:
        signature: as it came.
        of: the kind of that part, by its field: `text`, `functionCall`, `inlineData`.
    """
    return Opaque(PROVIDER, {SEAL: signature, "of": of})


def is_seal(part: Opaque) -> bool:
    """Whether a part is Gemini's seal of the one before it."""
    data: object = part.data
    return part.provider == PROVIDER and isinstance(data, dict) and SEAL in data


def own_part(part: Part, wire: list[dict[str, Any]]) -> None:
    """Append a part of a reply that is neither text nor a call, or put its seal on the part before it.

    Parts of other providers have no place here, and neither has a seal whose part is gone.
    """
    match part:
        case ServerCall(provider=provider, data=data) | ServerResult(provider=provider, data=data):
            if provider == PROVIDER and isinstance(data, dict):
                wire.append(cast("dict[str, Any]", data))
        case Opaque(provider=provider, data=data) if provider == PROVIDER and isinstance(data, dict):
            fields = cast("dict[str, Any]", data)
            if SEAL in fields and "of" in fields:
                _seal(fields[SEAL], fields["of"], wire)
            elif fields:
                wire.append(fields)
        case Image() | File():
            wire.append(_media(part))
        case _:
            pass


def _seal(signature: str, of: str, wire: list[dict[str, Any]]) -> None:
    last = wire[-1] if wire else {}
    if of in last and SEAL not in last and not last.get("thought"):
        wire[-1] = {**last, SEAL: signature}
    elif of == "text":
        wire.append({"text": "", SEAL: signature})
