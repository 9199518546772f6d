"""Anthropic Messages (`/v1/messages`), and the servers that speak it.

Source: https://platform.claude.com/docs/en/api/messages

The protocol's rules, and what is done about them (encoding: `anthropic_encode`, `anthropic_blocks`, `anthropic_options`,
`anthropic_tools`, `anthropic_schemas`; models that differ: `anthropic_dialect`; decoding: `anthropic_decode`,
`anthropic_errors`). Bedrock's InvokeModel sends the same body: `encode_body` and `AnthropicDecoder` know no HTTP.

* **Who and in which order.** The instructions are the `system` field. `user` and `assistant` alternate and a user begins:
  neighbours of one role are merged, and "…" stands in for a first user message that is not there. Results are blocks of the
  user message right after the calls, before its other blocks, one for each call and no others: what is missing is made up
  as an `outcome_unknown` fault, what nobody asked for is dropped.
* **Ids** are `[a-zA-Z0-9_-]+` and each occurs once. The provider's own goes back where it is usable, otherwise ours.
* **Names**: `[a-zA-Z0-9_-]{1,64}` in the history too; other letters of an invented name are replaced.
* **Tools** must be listed where the conversation holds calls: a request without tools lists those that were called, as gone,
  with `none`.
* **Arguments** are an object. What is not one goes back as `{"unreadable": "…"}`, and nothing as `{}`.
* **Empty texts** are refused: texts without a visible character are left out, and so are messages without any block. A
  result without content has no `content`.
* **Results** hold text, pictures and PDFs; with `is_error` (a fault) text only, so that the rest follows after all results.
* **Thinking** goes back verbatim, in its place, with its `signature`; redacted thinking as `redacted_thinking`. Thinking
  without a signature, of another provider, or with nothing after it in its message is left out. Newer models bind it to
  all that stood before it: should one refuse it for that, it is asked to drop what does not fit (a beta header), and where
  that cannot be asked, no thinking goes back any more.
* **A conversation that ends with the assistant**: a reply that *paused* goes back as it is. An unfinished text is gone on
  with by prefill where the model has it (before 4.6, without thinking; white space at its end is cut off), else by a
  user's "(Go on exactly where you stopped.)", unless there is a note.
* **Server-side tools** (`anthropic_hosted`; others by `extra={"tools": [{"type": "advisor_20260301", …}]}`): their calls
  and results go back verbatim. A call without its result, or the reverse, is left out, unless the reply paused there, or
  asked for calls of ours beside it: then the provider runs it once it has our results. A `caller` other than `direct`, and
  the container of the turn under way, go back as well. What is counted (`usage.server_tool_use`) is `Usage.served`.
* **Tools that run here in a form of the provider's** (`Contract.defined`): see `anthropic_defined`. A call of a toolset's
  goes back, with its result, as the member it was.
* **The note** is a last block of the user's; while a server-side call is under way, a last block of `system`.
* **Cache** (`Settings.cache`): four marks (`cache_control`), at the end of the tools, of the instructions, and of the last
  two user messages: each round reads what the one before wrote. The note stands after the marks. There is no routing key:
  `ModelRequest.conversation` has no effect.
* **Schema dialect**: see `anthropic_schemas`. Tools are `strict` (from 4.5 on) where their schema loses nothing by it, and
  while the limits of all together allow it: 20 tools, 24 optional and 16 union parameters. A tool beyond is sent without it.
* **A token limit** is required: `max_tokens`, 8192 by default (4096 before 3.5), more beside a thinking budget.

| tool_choice | sent as | beside thinking |
|---|---|---|
| `auto` | left out | the same |
| `required` | `any` | manual: thinking is left out of this request; adaptive: the same |
| a name | `tool` | as above |
| the answer's tool | `tool` | manual: `output_config.format` from 4.5 on, and its text is the call; else as above |
| `none`, tools off | `none`, tools listed | the same |

Fable and Mythos from 5.1, and all from 5.5 on, refuse `any` and `tool`: then it is `auto`, and the note says "Call a tool
now." (emulated; the loop counts a reply without a call as a fault); for the answer's tool (`ModelRequest.answer`) it is
`output_config.format`, as beside thinking. `parallel_calls` is `disable_parallel_tool_use`.

`think` depends on the model. Manual (3.7 to 4.5, and names that are not Claude's): a budget of 1024, 4096 or 16384 tokens
(on: 4096), at most half of `max_tokens`, with interleaved thinking (a beta header) beside tools; it is left out in the
middle of calls that came without thinking, where the provider refuses it. Adaptive (from 4.6): `adaptive`, and
`output_config.effort` when a level is named. Older models: `ConfigurationError`. Off: left out, `disabled`,
`between_tools` (Sonnet 5.5), or the effort `low` where it cannot be off (Fable, Mythos, Opus 5.5).

| setting | sent as |
|---|---|
| `temperature` | as it is, at most 1. No effect beside thinking and from 4.7 on, where the models refuse it |
| `top_p` | as it is. No effect from 4.7 on, beside thinking below 0.95, and from 4.1 on beside a temperature |
| `stop` | `stop_sequences`, without those of white space only, which are refused |
| `seed` | no effect: there is none |
| `returns` | `output_config.format` from 4.5 on, else the schema is put to the model in the instructions |
| `extra` | fields of the body; `tools` is added to ours, `betas` becomes the header |

| neutral part | sent as | read from |
|---|---|---|
| Text | a `text` block | `text` blocks |
| Thinking | `thinking`, `redacted_thinking` | the same (redacted: `data` is the signature) |
| ToolCall | `tool_use` | `tool_use` |
| ToolResult | `tool_result` | — |
| Image | `image`; in an assistant's message a line of text | — |
| File | `document` (PDF, or text); others are named in text | — |
| Citation | in `citations` of the text before it, verbatim | `citations` |
| ServerCall, ServerResult | verbatim (Anthropic's own only) | `server_tool_use`, `mcp_tool_use`, `…_tool_result` |
| Opaque | verbatim (Anthropic's own only) | every other block; `caller`; `toolset_name`; `container` |

An error of the type `overloaded_error` (529), or any other inside a stream, ends the request with the same `ModelError` as it
would with a status. A second `message_start` in one stream is a `bad_response`: two replies are not one.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Mapping

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.anthropic_blocks import PROVIDER
from tukang.models.anthropic_decode import AnthropicDecoder
from tukang.models.anthropic_dialect import Dialect, dialect_for, learn
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_errors import read_error, reported_error
from tukang.models.anthropic_hosted import cannot_serve
from tukang.models.anthropic_options import betas, without_force
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.exchange import Address, checked_key, exchange
from tukang.models.structured import as_call
from tukang.tools.hosted import Hosted

OFFICIAL_BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
_PATH = "/messages"


class AnthropicMessages:
    """A model behind Anthropic's Messages API.

    Args:
        model: its name on the wire, such as `claude-sonnet-4-5`; the environment's `ANTHROPIC_MODEL` if None.
        base_url: where the server is, with or without `/v1`; `ANTHROPIC_BASE_URL` if None, else Anthropic's own.
        api_key: sent as `x-api-key`; `ANTHROPIC_API_KEY` if None. Without one, `ANTHROPIC_AUTH_TOKEN` is sent as a bearer
            token. A server of one's own may need none.
        name: as a user writes it; `anthropic:<model>` if None.
        session: the aiohttp session to use, with the proxy and the TLS settings it has; it stays its owner's to close. The
            shared one of the event loop if None.
        proxy: the address of a proxy (`http://name:password@host:3128`) for this model. If None, what the session has; for
            the shared one what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
        tls: an `ssl.SSLContext` for this model: the authorities to trust, a certificate of its own. The session's if None.
        headers: more headers for each request; they win over this adapter's own.
        stream: whether to ask for the reply in pieces. What comes back is read either way.
        dialect: where the model differs; told by its name if None.

    Raises:
        ConfigurationError: no model is named, the base URL is not one, or Anthropic's own server is meant and there is no
            key.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        name: str | None = None,
        session: aiohttp.ClientSession | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = True,
        dialect: Dialect | None = None,
    ) -> None:
        self._model = model or os.environ.get("ANTHROPIC_MODEL") or ""
        if not self._model:
            raise ConfigurationError(
                "AnthropicMessages has no model: name one, or set ANTHROPIC_MODEL, for example claude-sonnet-4-5."
            )
        self._name = name or f"anthropic:{self._model}"
        url = _endpoint(base_url or os.environ.get("ANTHROPIC_BASE_URL") or OFFICIAL_BASE_URL)
        key = os.environ.get("ANTHROPIC_API_KEY", "") if api_key is None else api_key
        key = checked_key(key, "ANTHROPIC_API_KEY")
        token = "" if key or api_key is not None else os.environ.get("ANTHROPIC_AUTH_TOKEN", "")
        token = checked_key(token, "ANTHROPIC_AUTH_TOKEN")
        own = CIMultiDict({"Content-Type": "application/json", "anthropic-version": API_VERSION})
        if key:
            own["x-api-key"] = key
        elif token:
            own["Authorization"] = f"Bearer {token}"
        own.update(headers or {})
        if url.host == "api.anthropic.com" and "x-api-key" not in own and "Authorization" not in own:
            raise ConfigurationError(
                f"{url.host} needs a key: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server that needs none."
            )
        self._address = Address(url, own, http.Route(session, proxy, tls), (key, token, *(headers or {}).values()))
        self._stream = stream
        self._dialect = dialect or dialect_for(self._model)

    def __repr__(self) -> str:
        return f"AnthropicMessages({self._model!r}, base_url={http.where(self._address.url).removesuffix('/v1' + _PATH)!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking."""
        return PROVIDER

    def cannot_serve(self, tool: Hosted) -> str | None:
        """See `models.base.Serves`."""
        return cannot_serve(tool)

    async def prepare(self, request: ModelRequest) -> None:
        """Check what can be checked before a turn begins; nothing is sent.

        Raises:
            ConfigurationError: a tool, a setting or `returns` is something the provider refuses.
        """
        encode_body(self._model, request, dialect=self._dialect)
        betas(request, self._dialect)

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

        Args:
            request: its `seconds` bound the whole exchange.

        Raises:
            ModelError: the request is one the provider refuses (at once), the server cannot be reached, reports an error, or
                does not speak the protocol.
        """
        text = without_force(request, self._dialect)
        body, address = self._encoded(text or request)
        address = address.with_secrets([secret for tool in request.hosted for secret in tool.secrets])
        decoder = AnthropicDecoder(self._model)
        events = exchange(address, body, decoder, self._refused, seconds=request.seconds)
        return events if text is None else as_call(events, request.tool_choice)

    def _encoded(self, request: ModelRequest) -> tuple[bytes, Address]:
        try:
            body = encode_body(self._model, request, dialect=self._dialect, stream=self._stream)
            wanted = betas(request, self._dialect)
        except ConfigurationError as error:
            raise ModelError("configuration", str(error)) from error
        if not wanted:
            return body, self._address
        headers = CIMultiDict(self._address.headers)
        given = headers.get("anthropic-beta")
        headers["anthropic-beta"] = ",".join((given, *wanted) if given else wanted)
        return body, self._address.with_headers(headers)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """What a status of 400 or more means."""
        if status in (400, 422):
            learned = learn(self._dialect, body.decode("utf-8", "replace"))
            if learned != self._dialect:
                self._dialect = learned
                place = http.where(self._address.url)
                text = f"{place} takes requests in a slightly different form, which is used from now on."
                return ModelError("bad_request", text, status=status, retryable=True)
        return reported_error(
            read_error(body),
            status=status,
            model=self._model,
            retryable=http.may_retry(headers),
            retry_after=http.retry_after(headers),
        )


def _endpoint(base_url: str) -> URL:
    try:
        url = URL(base_url.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("the base URL (ANTHROPIC_BASE_URL) is not one: it must look like https://host")
    path = url.path.rstrip("/")
    if not path.endswith(_PATH):
        path += _PATH if path.endswith("/v1") else "/v1" + _PATH
    return url.with_path(path, keep_query=True)
