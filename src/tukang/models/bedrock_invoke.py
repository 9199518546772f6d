"""Amazon Bedrock's InvokeModel and InvokeModelWithResponseStream for Claude: Anthropic's body inside Bedrock's frames.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html and
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html

What stands in the body, both tables and the rules for tool_choice are those of `anthropic`. Bedrock's own:

* **Who and where** as for Converse: `tukang.models.aws`. The model stands in the address, not in the body.
* **Fields.** `anthropic_version` is `bedrock-2023-05-31`; beta features stand in `anthropic_beta`, since no header of
  Anthropic's passes. Interleaved thinking is not asked of Claude 3, where Bedrock refuses the flag. `stream` is not a field:
  another operation streams.
* **Frames.** Each `chunk` holds one event of Anthropic's stream in base64. A failure is a frame of its own.
* **Parts kept for the provider** are Anthropic's: a conversation goes from here to Anthropic and back with its reasoning,
  whose seals hold on both.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, cast

import aiohttp
import msgspec
from msgspec.structs import replace

from tukang.errors import ConfigurationError, ModelError
from tukang.models.anthropic_blocks import PROVIDER
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.anthropic_defined import on_bedrock
from tukang.models.anthropic_dialect import Dialect, dialect_for, learn
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_options import INTERLEAVED, betas, without_force
from tukang.models.aws import Account, BrokenFrame, Frame, FrameDecoder
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.bedrock_errors import reported_error
from tukang.models.bedrock_service import path_of, send
from tukang.models.http import Route
from tukang.models.structured import as_call

VERSION = "bedrock-2023-05-31"


class _Payload(msgspec.Struct):
    bytes: str = ""


_read_payload = msgspec.json.Decoder(_Payload).decode


class InvokeDecoder:
    """Turns the bytes of one response into events: `feed` it everything, then `end` it. What went wrong is kept in `error`.

    Args:
        model: the model that was asked, for the hint of an error.
    """

    def __init__(self, model: str = "") -> None:
        self.error: ModelError | None = None
        self._asked = model
        self._inner = AnthropicDecoder(model)
        self._frames: FrameDecoder | None = None
        self._whole: list[bytes] = []

    @property
    def done(self) -> bool:
        """Whether nothing follows."""
        return self._inner.done

    @property
    def complete(self) -> bool:
        """Whether the reply is whole, so that a connection that breaks now costs nothing."""
        return self._inner.complete

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Take in more bytes; what they say. A frame begins with a length, whose first byte is 0 or 1; JSON does not."""
        if self._frames is None:
            if self._whole or chunk[:1] > b"\x01":
                self._whole.append(chunk)
                return []
            if not chunk:
                return []
            self._frames = FrameDecoder()
        events: list[ModelEvent] = []
        try:
            for frame in self._frames.feed(chunk):
                events += self._frame(frame)
        except (BrokenFrame, msgspec.DecodeError, ValueError):
            self.error = self.error or ModelError(
                "bad_response", "The stream cannot be read: a frame of it is broken.", retryable=True
            )
        return events

    def end(self) -> list[ModelEvent]:
        """The response is over: what is left, and `ReplyEnded` unless there is an `error`."""
        if self.error is not None:
            return []
        events: list[ModelEvent] = []
        body = b"".join(self._whole)
        if body:
            events += self._inner.feed(body)
        events += self._inner.end()
        self.error = self._inner.error
        if self.error is not None and body and not self._inner.complete:
            self.error = reported_error("", body, model=self._asked)
        return events

    def _frame(self, frame: Frame) -> list[ModelEvent]:
        if self.error is not None:
            return []
        if frame.failed:
            self.error = reported_error(frame.kind, frame.payload, model=self._asked)
            return []
        if frame.kind != "chunk":
            return []
        events = self._inner.feed_event(base64.b64decode(_read_payload(frame.payload).bytes))
        self.error = self._inner.error
        return events


class BedrockInvoke:
    """Claude on Amazon Bedrock, spoken to in Anthropic's own words.

    Args:
        model: its id, an inference profile's (`us.anthropic.claude-sonnet-4-5-20250929-v1:0`), or an ARN.
        behind: the model behind an application inference profile, whose ARN does not tell; it is only looked up in the table.
        region, profile, token, base_url: see `tukang.models.aws.Account`; the environment's if None.
        account: who asks, in place of those four.
        name: as a user writes it; `bedrock-invoke:<model>` if None.
        session: the aiohttp session to use, with the proxy and the TLS settings it has; it stays its owner's to close. The
            shared one of the event loop if None.
        proxy: the address of a proxy (`http://name:password@host:3128`) for this model. If None, what the session has; for
            the shared one what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
        tls: an `ssl.SSLContext` for this model: the authorities to trust, a certificate of its own. The session's if None.
        headers: more headers for each request.
        stream: whether to ask for the reply in pieces. What comes back is read either way.
        dialect: what the model takes; worked out from the id if None.

    Raises:
        ConfigurationError: no model of Anthropic's is named, or botocore is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        behind: str | None = None,
        region: str | None = None,
        profile: str | None = None,
        token: str | None = None,
        base_url: str | None = None,
        account: Account | None = None,
        name: str | None = None,
        session: aiohttp.ClientSession | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = True,
        dialect: Dialect | None = None,
    ) -> None:
        told = behind or model
        if not told or ("anthropic" not in told and not told.startswith("arn:") and dialect is None):
            raise ConfigurationError(
                f"bedrock-invoke speaks to models of Anthropic only, not to {model!r}: name it 'bedrock:{model}' instead."
            )
        self._model = model
        self._told = told
        self._name = name or f"bedrock-invoke:{model}"
        self._account = account or Account(region=region, profile=profile, token=token, base_url=base_url)
        self._route = Route(session, proxy, tls)
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._stream = stream
        known = dialect_for(told)
        self._dialect = dialect or replace(known, forms=on_bedrock(known.forms))

    def __repr__(self) -> str:
        return f"BedrockInvoke({self._model!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking: Anthropic, wherever its models run."""
        return PROVIDER

    async def prepare(self, request: ModelRequest) -> None:
        """Find the region and the credentials, which may take a while, and see whether the request can be sent.

        Raises:
            ConfigurationError: there are none, or a setting or a tool cannot be sent to this model.
        """
        self.encode(request)
        await self._account.open()

    def encode(self, request: ModelRequest) -> bytes:
        """The body of a request.

        Raises:
            ConfigurationError: a setting or a tool cannot be sent to this model.
        """
        fields: dict[str, Any] = {"anthropic_version": VERSION}
        wanted = betas(request, self._dialect, bedrock=True)
        flags = [flag for flag in wanted if flag != INTERLEAVED or "claude-3" not in self._told]
        if flags:
            fields["anthropic_beta"] = flags
        return encode_body(None, request, dialect=self._dialect, fields=fields)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

        Args:
            request: its `seconds` bound the whole exchange.

        Raises:
            ModelError: Bedrock cannot be reached, refuses, reports an error, or does not speak the protocol; or the request
                cannot be sent to this model.
        """
        text = without_force(request, self._dialect)
        try:
            body = self.encode(text or request)
        except ConfigurationError as fault:
            raise ModelError("configuration", str(fault)) from None
        events = send(
            self._account,
            self._route,
            path_of(self._model, "invoke-with-response-stream" if self._stream else "invoke"),
            body,
            partial(InvokeDecoder, self._model),
            model=self._model,
            headers=self._headers,
            learned=self._learned,
            seconds=request.seconds,
        )
        if text is not None:
            events = as_call(events, request.tool_choice)
        async with aclosing(cast(Any, events)):
            async for event in events:
                yield event

    def _learned(self, complaint: str) -> bool:
        before, self._dialect = self._dialect, learn(self._dialect, complaint)
        return self._dialect != before
