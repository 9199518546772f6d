"""What an error that the Messages API reports is called here, and how to fix it.

Pure. The same function reads an error that came with a status and one that stands inside a stream that began with 200.
Source: https://platform.claude.com/docs/en/api/errors
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.errors import ModelError, ModelErrorKind
from tukang.models.http import snippet, status_kind

_KNOWN: Mapping[str, tuple[ModelErrorKind, bool]] = {
    "invalid_request_error": ("bad_request", False),
    "authentication_error": ("authentication", False),
    "permission_error": ("authentication", False),
    "billing_error": ("rate_limited", False),
    "not_found_error": ("not_found", False),
    "request_too_large": ("bad_request", False),
    "rate_limit_error": ("rate_limited", True),
    "api_error": ("overloaded", True),
    "timeout_error": ("overloaded", True),
    "overloaded_error": ("overloaded", True),
}
"""Values of `error.type`, and whether the same request may succeed a little later."""


def reported_error(
    error: Any,
    *,
    status: int | None = None,
    model: str = "",
    retryable: bool | None = None,
    retry_after: float | None = None,
) -> ModelError:
    """The `ModelError` for an error that the server reports.

    Args:
        error: what stands in `error`, or in the place of it: an object, or words.
        status: the HTTP status, where it is one of an error.
        model: the model that was asked, for the hint.
        retryable: what the server itself says about trying again; None where it does not say.
        retry_after: seconds the server asks to wait.
    """
    what = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    words: Any = what.get("message") or what.get("detail") or cast("Any", error)
    message = snippet(words if isinstance(words, str) else msgspec.json.encode(words).decode(), 600)
    kind, again = ("overloaded", True) if status is None else status_kind(status)
    name = str(what.get("type"))
    # 408, 409 and the like say more about trying again than the general type that comes with them.
    if not (name == "invalid_request_error" and again and status is not None):
        kind, again = _KNOWN.get(name, (kind, again))
    return ModelError(
        kind,
        message,
        hint=_hint(kind, again, model, message),
        status=status,
        retryable=again if retryable is None else retryable,
        retry_after=retry_after,
    )


def read_error(body: bytes) -> Any:
    """What the body of a response with an error's status says: the `error` in it, all of it, or its text."""
    try:
        value: Any = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return snippet(body[:1000].decode("utf-8", "replace")) or "The server said nothing about it."
    inner: Any = cast("dict[str, Any]", value).get("error") if isinstance(value, dict) else None
    return cast("Any", inner or value)


def _hint(kind: ModelErrorKind, again: bool, model: str, message: str) -> str | None:
    if "credit balance" in message or (kind == "rate_limited" and not again):
        return "The account has no credit left, or its plan does not include this."
    if "prompt is too long" in message:
        return "Keep less of the conversation (a window), or let tools return less."
    if kind == "authentication":
        return "Set ANTHROPIC_API_KEY to a key that this server accepts for this model."
    if kind == "not_found":
        return f"Unknown model: {model!r}, or the wrong ANTHROPIC_BASE_URL."
    return None
