"""What an error that a chat completions server reports is called here, and how to fix it.

Pure. The same function reads an error that came with a status and one that stands inside a response that began with 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tukang.errors import ModelError, ModelErrorKind
from tukang.models.http import snippet, status_kind

_KNOWN: Mapping[str, tuple[ModelErrorKind, bool]] = {
    "content_filter": ("filtered", False),
    "content_policy_violation": ("filtered", False),
    "insufficient_quota": ("rate_limited", False),
    "rate_limit_exceeded": ("rate_limited", True),
    "rate_limit_error": ("rate_limited", True),
    "invalid_api_key": ("authentication", False),
    "authentication_error": ("authentication", False),
    "permission_error": ("authentication", False),
    "model_not_found": ("not_found", False),
    "not_found_error": ("not_found", False),
    # The server could not read what its model wrote as a call. The same request may well succeed.
    "tool_use_failed": ("bad_response", True),
    "server_error": ("overloaded", True),
    "overloaded_error": ("overloaded", True),
}
"""Values of `code` or `type`, and whether the same request may succeed a little later."""

_WITHOUT_STATUS: Mapping[str, tuple[ModelErrorKind, bool]] = {"invalid_request_error": ("bad_request", False)}
"""Types so general that a status says more than they do."""


def reported_error(
    error: Any,
    *,
    status: int | None = None,
    model: str = "",
    variables: str = "OPENAI",
    retryable: bool | None = None,
    retry_after: float | None = None,
) -> ModelError:
    """The `ModelError` for an error that the server reports.

    Args:
        error: what stands in `error`, or in the place of it: an object, or words.
        status: the HTTP status, where it is one of an error.
        model: the model that was asked, for the hint.
        variables: what the names of the provider's variables begin with, for the hint.
        retryable: what the server itself says about trying again; None where it does not say.
        retry_after: seconds the server asks to wait.
    """
    what = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    words: Any = what.get("message") or what.get("detail") or cast("Any", error)
    message = words if isinstance(words, str) else msgspec.json.encode(words).decode()
    kind, again = ("overloaded", True) if status is None else status_kind(status)
    names = [str(what.get("type")), str(what.get("code"))]  # the code is the more exact one: it has the last word
    if status is None:
        status = _inner_status(what)
        kind, again = (kind, again) if status is None else status_kind(status)
        for name in names:
            kind, again = _WITHOUT_STATUS.get(name, (kind, again))
    for name in names:
        kind, again = _KNOWN.get(name, (kind, again))
    return ModelError(
        kind,
        snippet(message, 600),
        hint=_hint(kind, again, model, variables),
        status=status,
        retryable=again if retryable is None else retryable,
        retry_after=retry_after,
    )


def _inner_status(what: Mapping[str, Any]) -> int | None:
    for field in ("status_code", "status", "code"):
        value = str(what.get(field))
        if value.isdecimal() and 400 <= int(value) <= 599:
            return int(value)
    return None


def _hint(kind: ModelErrorKind, again: bool, model: str, variables: str) -> str | None:
    match kind:
        case "authentication":
            return f"Set {variables}_API_KEY to a key that this server accepts for this model."
        case "not_found":
            return f"Unknown model: {model!r}, or the wrong {variables}_BASE_URL."
        case "rate_limited" if not again:
            return "The account has no credit left, or its plan does not include this."
        case _:
            return None
