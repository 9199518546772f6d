"""What tukang raises at the *developer*. Nothing here ever reaches the model.

Every message names the thing, says what was expected, and how to fix it. Faults that the model reads are data and live in
`tukang.loop.events`; this file knows neither the loop nor any provider.
"""

from __future__ import annotations

from typing import Literal


class TukangError(Exception):
    """The root of everything raised on purpose."""


class ConfigurationError(TukangError):
    """Something that can be known before a turn starts is missing or contradictory."""


class ToolDefinitionError(ConfigurationError):
    """A tool's contract and its function do not fit together, or one of them is not usable."""


class ToolWarning(UserWarning):
    """A tool works, but not as its author is likely to want: a description that was not read, a result that says nothing."""


class SessionBusyError(TukangError):
    """A second turn was started on a session that is in the middle of one, and was asked not to wait."""


ModelErrorKind = Literal[
    "connection",  # nothing came, or the connection broke
    "rate_limited",  # 429
    "overloaded",  # 408, 409, 5xx, 529
    "authentication",  # 401, 403
    "not_found",  # 404: the model or the address
    "bad_request",  # 400: what we sent is refused
    "bad_response",  # not the protocol: not JSON, no choices, a truncated stream
    "filtered",  # refused by the provider's content filter
    "timeout",  # the request was longer under way than the turn allowed
    "configuration",  # this machine cannot run the model: no weights, no memory
    "unexpected",  # an error of the adapter's own
]


class ModelError(TukangError):
    """A model request that did not end in a reply.

    Inside a turn it becomes an event; outside (an adapter used directly) it is raised.

    Args:
        kind: one of the closed list above.
        message: what happened, in one sentence, without secrets.
        hint: how to fix it, where that is known.
        status: the HTTP status, where there was one.
        retryable: whether the same request may succeed a little later.
        retry_after: seconds the provider asked us to wait.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message if hint is None else f"{message} {hint}")
        self.kind: ModelErrorKind = kind
        self.message = message
        self.hint = hint
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
