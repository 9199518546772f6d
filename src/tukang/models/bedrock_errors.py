"""What an error that Amazon Bedrock reports is called here, and how to fix it.

Pure. The same function reads an error that came with a status, one that stands in a frame of an event stream, and one in a
body that began with 200.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors and
https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from tukang.errors import ModelError, ModelErrorKind
from tukang.models.http import snippet, status_kind

_KNOWN: Mapping[str, tuple[ModelErrorKind, bool]] = {
    "throttlingexception": ("rate_limited", True),
    "toomanyrequestsexception": ("rate_limited", True),
    "servicequotaexceededexception": ("rate_limited", False),
    "internalserverexception": ("overloaded", True),
    "internalfailure": ("overloaded", True),
    "serviceunavailableexception": ("overloaded", True),
    "serviceunavailable": ("overloaded", True),
    "modelnotreadyexception": ("overloaded", True),
    "modeltimeoutexception": ("overloaded", True),
    # The model, not the service, failed while it answered. The same request may well succeed.
    "modelerrorexception": ("bad_response", True),
    "modelstreamerrorexception": ("bad_response", True),
    "accessdeniedexception": ("authentication", False),
    "unrecognizedclientexception": ("authentication", False),
    "incompletesignature": ("authentication", False),
    "incompletesignatureexception": ("authentication", False),
    "invalidsignatureexception": ("authentication", False),
    "missingauthenticationtokenexception": ("authentication", False),
    "notauthorized": ("authentication", False),
    "optinrequired": ("authentication", False),
    "expiredtokenexception": ("authentication", True),
    "resourcenotfoundexception": ("not_found", False),
    "unknownoperationexception": ("not_found", False),
    "validationexception": ("bad_request", False),
}
"""Exceptions, in small letters, and whether the same request may succeed a little later."""

EXPIRED = "expiredtokenexception"
"""Credentials that have run out: new ones may be at hand."""


def reported_error(
    kind: str,
    body: bytes,
    *,
    status: int | None = None,
    model: str = "",
    retry_after: float | None = None,
) -> ModelError:
    """The `ModelError` for an error that Bedrock reports.

    Args:
        kind: the exception, as `error_type` or a frame names it; empty where it is not named.
        body: the response's body or the frame's payload.
        status: the HTTP status, where it is one of an error.
        model: the model that was asked, for the hint.
        retry_after: seconds the service asks to wait.
    """
    value = _read(body)
    words = next((value[key] for key in ("message", "Message", "originalMessage") if value.get(key)), None)
    message = words if isinstance(words, str) else body[:2400].decode("utf-8", "replace")
    named = kind.lower() or _plain(str(value.get("__type") or value.get("code") or ""))
    mean: tuple[ModelErrorKind, bool] = ("overloaded", True) if status is None else status_kind(status)
    what, again = _KNOWN.get(named, mean)
    if what == "bad_request" and "model identifier" in message:
        what = "not_found"
    return ModelError(
        what,
        snippet(message, 600) or kind or "Bedrock reports an error without a word.",
        hint=_hint(what, named, again, message, model),
        status=status,
        retryable=again,
        retry_after=retry_after,
    )


def error_type(headers: Mapping[str, str], body: bytes) -> str:
    """The exception a response names: `x-amzn-ErrorType` without the address after it, or `__type` of the body."""
    named = headers.get("x-amzn-ErrorType") or headers.get("X-Amzn-ErrorType") or str(_read(body).get("__type") or "")
    return _plain(named)


def _plain(name: str) -> str:
    return name.split(":")[0].rpartition("#")[2].lower()


def _read(body: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    value = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    # An unknown operation is reported one level down, with status 200 at times.
    inner: Any = value.get("Output")
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else value


def _hint(kind: ModelErrorKind, named: str, again: bool, message: str, model: str) -> str | None:
    if named == EXPIRED:
        return "The AWS credentials have run out: renew them (aws sso login, a new AWS_SESSION_TOKEN)."
    match kind:
        case "authentication" if named == "accessdeniedexception":
            return (
                f"Ask for access to {model!r} in the Bedrock console, and allow bedrock:InvokeModel for this identity."
            )
        case "authentication":
            return "Set AWS_BEARER_TOKEN_BEDROCK, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        case "not_found":
            return f"Unknown model: {model!r}, or it is not served in this region (AWS_REGION)."
        case "rate_limited" if not again:
            return "A quota of the account is used up: ask for more in Service Quotas, or use another model."
        case "bad_request" if "on-demand throughput" in message:
            return f"Name an inference profile instead, such as 'us.{model}' or 'global.{model}'."
        case _:
            return None
