"""OpenAI Chat Completions, and the many servers that speak it.

Source: https://platform.openai.com/docs/api-reference/chat

The protocol's rules, and what is done about them (encoding: `openai_chat_encode`; decoding: `openai_chat_decode`,
`openai_chat_calls`, `openai_chat_errors`; how servers differ: `openai_chat_dialect`; schemas: `openai_schemas`,
`openai_strict`):

* **Who and in which order.** `system` first (the instructions), then `user`, `assistant` and `tool`. An assistant message
  with `tool_calls` must be followed at once by one `tool` message per call. This is mended just before sending: results go
  in the order asked, a call without one gets an `outcome_unknown` fault, a result without its call is dropped.
* **Ids.** A result names its call by `tool_call_id`. The provider's own id goes back where there is a usable one, otherwise
  ours. OpenAI takes at most 40 characters, Mistral exactly nine.
* **Names.** `[a-zA-Z0-9_-]{1,64}`, in the history too: a name the model invented goes back with other letters replaced.
* **Arguments** are a string. OpenAI takes any; many servers parse it and refuse the whole history for one bad string, so
  what is not a JSON object goes back as `{"unreadable": "…"}`, and nothing as `{}`.
* **An assistant message that only asks for calls** has `content: null`, as OpenAI itself sends it; `Dialect.no_text` makes it
  `""`. One without text and calls is left out.
* **Tool messages hold text only.** Images and files of a result follow in one `user` message after the last result.
* **Thinking in plain words is not sent back**: OpenAI has no field for it, and several servers refuse one. Where a server
  takes it beside the calls it led to (DeepSeek insists, Crusoe), `Dialect.thinking_field` names the field.
* **What a server seals goes back to that server, verbatim, with its message** (`openai_chat_sealed`): `reasoning_details`
  (OpenRouter, Snowflake, …), and `extra_content` of a call (Google's thought signature). No other server sees it. From
  Gemini 3 on, Google refuses a message whose first call has no signature: one it did not make gets the mark it names.
* **Schema dialect.** OpenAI and Azure: `strict` where the schema allows it, each tool alone (`openai_strict`): a property
  that may be left out is nullable on the wire, and what strict mode forced to null is taken out of the arguments again. All
  others get the plain schema, unless `strict=True` asks for more. A tool whose strict schema is refused goes without from
  then on. OpenAI and Azure take at most 128 tools; more are refused by name (`ConfigurationError`).
* **tool_choice.** `auto`: left out (the default beside tools); `required`, `none`: the same word; a name:
  `{"type": "function", "function": {"name": …}}`. **No tools now**: they stay listed, for the cache, with `"none"`. A
  server that refuses a forced choice (several do, of a model that thinks) is told in words from then on, and asked for the
  answer that is data (`ModelRequest.answer`) by `response_format`: its text is the call.
* **The note** is a last message with the role `user`: many chat templates refuse a `system` message that is not the first,
  and all take a user's. After a user's message it is joined to that one, because some insist that roles alternate. Mistral
  refuses a user right after a result: there the assistant says "OK" between them.
* **Token limit.** `max_completion_tokens` for OpenAI's models from o1 and gpt-5 on, else `max_tokens`.
* **`temperature`, `top_p`** are not sent again to a model that refused them (one that reasons).
* **Thinking setting.** `reasoning_effort`: `low`, `medium`, `high`; on is `medium`, off is `none`.
* **Several calls in one reply**: `Settings.parallel_calls` is `parallel_tool_calls`, where there are tools.
* **Structured output**: `ModelRequest.returns` is `response_format`, a `json_schema`: strict where the schema allows it. A
  schema whose type is not `object` is refused (`ConfigurationError`); a server that has none says so itself.
* **Cache**: OpenAI caches prefixes by itself; `ModelRequest.conversation` is sent as `prompt_cache_key` to api.openai.com
  alone, unless `Settings.cache` is off, so that its rounds go to one cache. Nothing else marks the prompt.
* **Token counts in a stream** come only when asked for (`stream_options`). A server that refuses the question is not asked
  again: the error can be retried, and the adapter has learned (`openai_chat_dialect.learn`).

| neutral part | sent as | read from |
|---|---|---|
| Text | `content`, a string; a `text` part beside images | `content`: a string, or `text` parts |
| Thinking | — (but see above) | `reasoning_content`, `reasoning`, `thinking` parts |
| ToolCall | `tool_calls[]` | `tool_calls[]`, the older `function_call` |
| ToolResult | a `tool` message | — |
| Image | an `image_url` part, data as a data URL | — |
| File | a `file` part; one with a URL only is named in text | — |
| Citation | — (what it supports is in the text) | `annotations[].url_citation` |
| Opaque | its own server's sealed fields, see above | `reasoning_details`, `tool_calls[].extra_content` |
| ServerCall, ServerResult | — (this protocol has no place for them) | — |
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Mapping

import aiohttp
from msgspec.structs import replace
from multidict import CIMultiDict
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.exchange import Address, exchange
from tukang.models.openai_chat_decode import ChatDecoder, read_error
from tukang.models.openai_chat_dialect import Dialect, dialect_for, learn
from tukang.models.openai_chat_encode import check, encode_request, without_force
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_settings import key_headers, on_azure
from tukang.models.openai_strict import forced_by
from tukang.models.openai_undoing import undoing
from tukang.models.structured import as_call

OFFICIAL_BASE_URL = "https://api.openai.com/v1"
_PATH = "/chat/completions"


class OpenAIChat:
    """A model behind a chat completions server.

    Args:
        model: its name on the wire, such as `gpt-4o-mini`; the environment's `OPENAI_MODEL` if None.
        base_url: where the server is, up to and without `/chat/completions`; a query in it is kept (Azure's
            `?api-version=…`). `OPENAI_BASE_URL` if None, else OpenAI's own.
        api_key: sent as a bearer token, to Azure as `api-key`; if None `OPENAI_API_KEY`, for Azure `AZURE_OPENAI_API_KEY`
            before it. A server of one's own may need none.
        name: as a user writes it; `openai:<model>` if None.
        variables: what the names of its variables begin with, for the hint of an error.
        session: the aiohttp session to use, with the proxy and the TLS settings it has; it stays its owner's to close. The
            shared one of the event loop if None.
        proxy: the address of a proxy (`http://name:password@host:3128`) for this model. If None, what the session has; for
            the shared one what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
        tls: an `ssl.SSLContext` for this model: the authorities to trust, a certificate of its own. The session's if None.
        headers: more headers for each request; they win over this adapter's own.
        stream: whether to ask for the reply in pieces. What comes back is read either way.
        strict: whether tools go in strict mode where their schema allows it; where the server is known to have it if None.
        dialect: where the server differs; worked out from the host and the model if None.

    Raises:
        ConfigurationError: no model is named, the base URL is not one, or OpenAI's own server is meant and there is no key.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        name: str | None = None,
        variables: str = "OPENAI",
        session: aiohttp.ClientSession | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = True,
        strict: bool | None = None,
        dialect: Dialect | None = None,
    ) -> None:
        self._model = model or os.environ.get("OPENAI_MODEL") or ""
        if not self._model:
            raise ConfigurationError("OpenAIChat has no model: name one, or set OPENAI_MODEL, for example gpt-4o-mini.")
        self._name = name or f"openai:{self._model}"
        self._variables = variables
        url = _endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or OFFICIAL_BASE_URL)
        key, own = key_headers(url, api_key)
        sent = CIMultiDict({"Content-Type": "application/json", **own})
        sent.update(headers or {})
        if url.host == "api.openai.com" and "Authorization" not in sent:
            raise ConfigurationError(
                f"{url.host} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none."
            )
        self._address = Address(
            url, sent, http.Route(session, proxy, tls), (key, url.password or "", *(headers or {}).values())
        )
        self._stream = stream
        dialect = dialect or dialect_for(url.host or "", self._model)
        self._dialect = dialect if strict is None else replace(dialect, strict=strict)

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r}, base_url={http.where(self._address.url).removesuffix(_PATH)!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and sealed reasoning: this server."""
        return self._dialect.provider

    async def prepare(self, request: ModelRequest) -> None:
        """Nothing to load: the server is somebody else's.

        Raises:
            ConfigurationError: the request asks for something this protocol cannot do.
        """
        check(request, self._dialect)

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

        Args:
            request: its `seconds` bound the whole exchange.

        Raises:
            ModelError: the server cannot be reached, refuses, reports an error, or does not speak the protocol.
            ConfigurationError: the request asks for something this protocol cannot do.
        """
        text = without_force(request, self._dialect)
        body = encode_request(self._model, text or request, self._dialect, self._stream)
        decoder = ChatDecoder(self._model, self._dialect.provider)
        events = exchange(self._address, body, decoder, self._refused, seconds=request.seconds)
        if text is not None:
            events = as_call(events, request.tool_choice)
        forced = forced_by(request.tools, self._dialect)
        return undoing(events, forced) if forced else events

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """What a status of 400 or more means."""
        if status in (400, 422):
            learned = learn(self._dialect, body.decode("utf-8", "replace"))
            if learned != self._dialect:
                self._dialect = learned
                text = f"{http.where(self._address.url)} takes requests in a slightly different form, used from now on."
                return ModelError("bad_request", text, status=status, retryable=True)
        return reported_error(
            read_error(body),
            status=status,
            model=self._model,
            variables=self._variables,
            retryable=http.may_retry(headers),
            retry_after=http.retry_after(headers),
        )


def _endpoint(base_url: str) -> URL:
    try:
        url = URL(base_url.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("the base URL (OPENAI_BASE_URL) is not one: it must look like https://host/v1")
    path = url.path.rstrip("/")
    if not path and on_azure(url):
        path = "/openai/v1"
    return url.with_path(path if path.endswith(_PATH) else path + _PATH, keep_query=True)
