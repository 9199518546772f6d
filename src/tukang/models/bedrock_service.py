"""One request to Amazon Bedrock and its response: addressed and signed by an `Account`, sent over our own HTTP.

This file knows neither Converse nor Anthropic's body; it retries nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast
from urllib.parse import quote

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.aws import Account
from tukang.models.base import ModelEvent
from tukang.models.bedrock_errors import EXPIRED, error_type, reported_error
from tukang.models.exchange import Address, Decoder, exchange

FORM_CHANGED = "This model takes requests in a slightly different form, which is used from now on."


def path_of(model: str, operation: str) -> str:
    """The path of an operation on a model: its id, or an ARN, percent-encoded whole."""
    return f"/model/{quote(model, safe='')}/{operation}"


async def send(
    account: Account,
    route: http.Route,
    path: str,
    body: bytes,
    decoder: Callable[[], Decoder],
    *,
    model: str,
    headers: Mapping[str, str],
    learned: Callable[[str], bool],
    seconds: float | None,
) -> AsyncIterator[ModelEvent]:
    """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

    Args:
        account: who asks, and where.
        route: by which session, proxy and TLS settings.
        path: see `path_of`.
        body: the encoded request.
        decoder: makes a fresh one; called once botocore is imported.
        model: the model that is asked, for the hint of an error.
        headers: all headers beside the signature's.
        learned: told what a refusal (400) says; whether it taught the adapter something, so that it is worth asking again.
        seconds: how long the whole exchange may take.

    Raises:
        ModelError: as `exchange` does; also where there are no credentials or no region.
    """
    try:
        url = await account.url(path)
        signed = await account.headers(url, body, headers)
    except ConfigurationError as fault:
        raise ModelError("configuration", str(fault)) from None

    def refused(status: int, answer: Mapping[str, str], content: bytes) -> ModelError:
        kind = error_type(answer, content)
        if kind == EXPIRED:
            account.forget()
        if status == 400 and learned(content.decode("utf-8", "replace")):
            return ModelError("bad_request", FORM_CHANGED, status=status, retryable=True)
        return reported_error(kind, content, status=status, model=model, retry_after=http.retry_after(answer))

    secrets = (signed["Authorization"].removeprefix("Bearer "), signed.get("X-Amz-Security-Token", ""))
    address = Address(url, signed, route, secrets)
    events = cast(Any, exchange(address, body, decoder(), refused, seconds=seconds))
    async with aclosing(events):
        async for event in events:
            yield event
