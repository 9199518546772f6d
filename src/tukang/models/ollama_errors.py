"""What an error that an Ollama server reports is called here, and how to fix it.

Pure. The same function reads an error that came with a status and one that stands inside a response that began with 200.
Source: https://docs.ollama.com/api/errors; the words are those of Ollama's `server/routes.go` and `server/sched.go`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tukang.errors import ModelError, ModelErrorKind
from tukang.models.http import snippet, status_kind

_WORDS: tuple[tuple[str, ModelErrorKind, bool], ...] = (
    ("requires more system memory", "configuration", False),
    ("does not support", "bad_request", False),
    ("invalid think value", "bad_request", False),
    ("not found", "not_found", False),
    ("unauthorized", "authentication", False),
    ("maximum pending requests", "overloaded", True),
    # The server could not read what its model wrote as a call. The same request may well succeed.
    ("error parsing tool call", "bad_response", True),
)
"""Words that say more than the status does, the first that fit, and whether the same request may succeed a little later."""


def reported_error(
    error: Any, *, status: int | None = None, model: str = "", retry_after: float | None = None
) -> ModelError:
    """The `ModelError` for an error that the server reports.

    Args:
        error: what stands in `error`, or in the place of it: words, or an object.
        status: the HTTP status, where it is one of an error.
        model: the model that was asked, for the hint.
        retry_after: seconds the server asks to wait.
    """
    message = error if isinstance(error, str) else msgspec.json.encode(error).decode()
    kind, again = ("overloaded", True) if status is None else status_kind(status)
    for words, known, known_again in _WORDS:
        if words in message.lower():
            kind, again = known, known_again
            break
    return ModelError(
        kind,
        snippet(message, 600),
        hint=_hint(kind, message, model),
        status=status,
        retryable=again,
        retry_after=retry_after,
    )


def _hint(kind: ModelErrorKind, message: str, model: str) -> str | None:
    match kind:
        case "authentication":
            return "Sign in on that machine with `ollama signin`, or set OLLAMA_API_KEY."
        case "not_found":
            return f"Load it first with `ollama pull {model}`; OLLAMA_HOST says which server is asked."
        case "configuration":
            return "Use a smaller model, or a smaller context: Settings(extra={'options': {'num_ctx': 4096}})."
        case "bad_request" if "support tools" in message:
            return "Choose a model with the capability `tools`: `ollama show` lists what a model can do."
        case "bad_request" if "support thinking" in message:
            return "Leave Settings(think=…) out, or choose a model that thinks."
        case _:
            return None
