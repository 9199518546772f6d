"""What an error that Google's servers report is called here, and how to fix it; and ends of a reply that are errors.

Pure. The same function reads an error that came with a status and one that stands inside a response that began with 200.
Source: https://ai.google.dev/gemini-api/docs/troubleshooting and https://google.aip.dev/193
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from tukang.errors import ModelError, ModelErrorKind
from tukang.models.adapting import read_json
from tukang.models.http import snippet, status_kind

_STATUS: Mapping[str, tuple[ModelErrorKind, bool]] = {
    "INVALID_ARGUMENT": ("bad_request", False),
    "FAILED_PRECONDITION": ("bad_request", False),
    "OUT_OF_RANGE": ("bad_request", False),
    "UNAUTHENTICATED": ("authentication", False),
    "PERMISSION_DENIED": ("authentication", False),
    "NOT_FOUND": ("not_found", False),
    "RESOURCE_EXHAUSTED": ("rate_limited", True),
    "ABORTED": ("overloaded", True),
    "CANCELLED": ("overloaded", True),
    "DEADLINE_EXCEEDED": ("overloaded", True),
    "INTERNAL": ("overloaded", True),
    "UNAVAILABLE": ("overloaded", True),
    "UNKNOWN": ("overloaded", True),
}
"""`error.status`, and whether the same request may succeed a little later."""

_REASON: Mapping[str, tuple[ModelErrorKind, bool]] = {
    "API_KEY_INVALID": ("authentication", False),
    "API_KEY_SERVICE_BLOCKED": ("authentication", False),
    "SERVICE_DISABLED": ("authentication", False),
}
"""`reason` of an `ErrorInfo`: a wrong key comes with status 400."""

_ENDS: Mapping[str, tuple[ModelErrorKind, bool, str]] = {
    "MALFORMED_FUNCTION_CALL": ("bad_response", True, "The model wrote a function call that cannot be read."),
    "MALFORMED_RESPONSE": ("bad_response", True, "The model's reply cannot be read."),
    "UNEXPECTED_TOOL_CALL": ("bad_response", True, "The model called a function although none may be called now."),
    "TOO_MANY_TOOL_CALLS": ("bad_response", False, "The model called the server's own tools too often."),
    "MISSING_THOUGHT_SIGNATURE": ("bad_request", False, "A thought signature is missing from the conversation."),
    "PUP_LIMITED_DISABLED": ("authentication", False, "The account is limited for a breach of the usage policy."),
}
"""Values of `finishReason` that are no reply."""

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


def reported_error(
    error: Any, *, status: int | None = None, model: str = "", retry_after: float | None = None
) -> ModelError:
    """The `ModelError` for an error that the server reports.

    Args:
        error: what stands in `error`, or in the place of it: an object, or words.
        status: the HTTP status, where it is one of an error.
        model: the model that was asked, for the hint.
        retry_after: seconds the response's headers ask to wait; a `RetryInfo` in the error is finer.
    """
    what = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    words: Any = what.get("message") or cast("Any", error)
    message = words if isinstance(words, str) else msgspec.json.encode(words).decode()
    code = what.get("code")
    if status is None and isinstance(code, int) and 400 <= code <= 599:
        status = code
    kind, again = ("overloaded", True) if status is None else status_kind(status)
    kind, again = _STATUS.get(str(what.get("status")), (kind, again))
    for detail in _details(what):
        kind, again = _REASON.get(str(detail.get("reason")), (kind, again))
        wait = _SECONDS.fullmatch(str(detail.get("retryDelay")))
        retry_after = retry_after if wait is None else float(wait[1])
        if _is_daily(detail):
            again = False  # the delay it names is that of another quota
    if kind == "bad_request" and "api key" in message.lower():
        kind = "authentication"
    return ModelError(
        kind,
        snippet(message, 600),
        hint=_hint(kind, again, message, model),
        status=status,
        retryable=again,
        retry_after=retry_after if again else None,
    )


def ended_badly(reason: str, words: Any) -> ModelError | None:
    """The error that a `finishReason` is; None where it ends a reply.

    Args:
        reason: the `finishReason`.
        words: the `finishMessage` beside it.
    """
    if reason not in _ENDS:
        return None
    kind, again, message = _ENDS[reason]
    said = f" {snippet(words, 400)}" if isinstance(words, str) and words else ""
    return ModelError(kind, f"{message} ({reason}){said}", retryable=again)


def blocked(reason: str, words: Any) -> ModelError:
    """The error for a prompt that the provider did not show to the model."""
    said = f" {snippet(words, 400)}" if isinstance(words, str) and words else ""
    hint = "Its limits can be set: Settings(extra={'safetySettings': […]})." if reason == "SAFETY" else None
    return ModelError("filtered", f"The provider's filter refused the conversation ({reason}).{said}", hint=hint)


def read_error(body: bytes) -> Any:
    """What the body of a response with an error's status says: its `error`, or its text."""
    text = body.decode("utf-8", "replace")
    value = read_json(text)
    if isinstance(value, list) and value:
        value = cast("list[Any]", value)[0]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return fields.get("error") or fields
    return snippet(text[:1000]) or "The server gave no reason."


def _details(what: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = what.get("details")
    for detail in cast("list[Any]", details) if isinstance(details, list) else ():
        if isinstance(detail, dict):
            yield cast("dict[str, Any]", detail)


def _is_daily(detail: Mapping[str, Any]) -> bool:
    violations = detail.get("violations")
    return isinstance(violations, list) and any("PerDay" in str(one) for one in cast("list[Any]", violations))


def _hint(kind: ModelErrorKind, again: bool, message: str, model: str) -> str | None:
    match kind:
        case "authentication":
            return "Set GEMINI_API_KEY (or GOOGLE_API_KEY, which goes first) to a key that may use this model."
        case "not_found":
            return f"Unknown model: {model!r}, or the wrong GOOGLE_GEMINI_BASE_URL."
        case "rate_limited" if not again:
            return "The quota of the day is used up."
        case "bad_request" if "thought" in message.lower():
            return "Another model of the same provider can go on with this conversation."
        case _:
            return None
