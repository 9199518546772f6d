"""OpenAI Chat Completions, and the many servers that speak it.

Source: https://platform.openai.com/docs/api-reference/chat

The protocol's rules, and what is done about them (encoding: `openai_chat_encode`; decoding: `openai_chat_decode`,
`openai_chat_calls`, `openai_chat_errors`):

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
* **Thinking is not sent back**: OpenAI has no field for it, and DeepSeek once refused it. Where a server needs it beside the
  calls it led to (DeepSeek today), `Dialect.thinking_field` names the field.
* **Schema dialect.** JSON Schema as declared; strict mode is not asked for.
* **tool_choice.** `auto`: left out (the default beside tools); `required`, `none`: the same word; a name:
  `{"type": "function", "function": {"name": …}}`. **No tools now**: they stay listed, for the cache, with `"none"`.
* **The note** is a last message with the role `user`: many chat templates refuse a `system` message that is not the first,
  and all take a user's. After a user's message it is joined to that one, because some insist that roles alternate.
* **Token limit.** `max_completion_tokens` for OpenAI's models from o1 and gpt-5 on, else `max_tokens`.
* **Thinking setting.** `reasoning_effort`: `low`, `medium`, `high`; on is `medium`, off is `none`.
* **Several calls in one reply**: `Settings.parallel_calls` is `parallel_tool_calls`, where there are tools.
* **Structured output**: `ModelRequest.returns` is `response_format`, a `json_schema`: strict where the schema allows it. A
  schema whose type is not `object` is refused (`ConfigurationError`); a server that has none says so itself.
* **Cache**: OpenAI caches prefixes by itself; `ModelRequest.conversation` is sent as `prompt_cache_key` to api.openai.com
  alone, unless `Settings.cache` is off, so that its rounds go to one cache. Nothing else marks the prompt.
* **Token counts in a stream** come only when asked for (`stream_options`). A server that refuses the question is not asked
  again: the error can be retried, and the adapter has learned (`openai_chat_encode.learn`).

| neutral part | sent as | read from |
|---|---|---|
| Text | `content`, a string; a `text` part beside images | `content`: a string, or `text` parts |
| Thinking | — (see above) | `reasoning_content`, `reasoning`, `thinking` parts |
| ToolCall | `tool_calls[]` | `tool_calls[]`, the older `function_call` |
| ToolResult | a `tool` message | — |
| Image | an `image_url` part, data as a data URL | — |
| File | a `file` part; one with a URL only is named in text | — |
| Citation | — (what it supports is in the text) | `annotations[].url_citation` |
| ServerCall, ServerResult, Opaque | — (this protocol has no place for them) | — |
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.openai_chat_decode import ChatDecoder, read_error
from tukang.models.openai_chat_encode import Dialect, dialect_for, encode_request, learn
from tukang.models.openai_chat_errors import reported_error

OFFICIAL_BASE_URL = "https://api.openai.com/v1"
_PATH = "/chat/completions"


class OpenAIChat:
    """A model behind a chat completions server.

    Args:
        model: its name on the wire, such as `gpt-4o-mini`; the environment's `OPENAI_MODEL` if None.
        base_url: where the server is, up to and without `/chat/completions`; a query in it is kept (Azure's
            `?api-version=…`). `OPENAI_BASE_URL` if None, else OpenAI's own.
        api_key: sent as a bearer token; `OPENAI_API_KEY` if None. A server of one's own may need none.
        name: as a user writes it; `openai:<model>` if None.
        session: the aiohttp session to use, which stays its owner's to close; the shared one of the event loop if None.
        headers: more headers for each request; they win over this adapter's own.
        stream: whether to ask for the reply in pieces. What comes back is read either way.
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
        session: aiohttp.ClientSession | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = True,
        dialect: Dialect | None = None,
    ) -> None:
        self._model = model or os.environ.get("OPENAI_MODEL") or ""
        if not self._model:
            raise ConfigurationError("OpenAIChat has no model: name one, or set OPENAI_MODEL, for example gpt-4o-mini.")
        self._name = name or f"openai:{self._model}"
        self._url = _endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or OFFICIAL_BASE_URL)
        key = _checked_key(os.environ.get("OPENAI_API_KEY", "") if api_key is None else api_key)
        self._headers = CIMultiDict({"Content-Type": "application/json"})
        if key and self._url.user is None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._headers.update(headers or {})
        if self._url.host == "api.openai.com" and "Authorization" not in self._headers:
            raise ConfigurationError(
                f"{self._url.host} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none."
            )
        self._secrets = tuple(secret for secret in (key, *(headers or {}).values()) if len(secret) > 7)
        self._session = session
        self._stream = stream
        self._proxy = http.proxy_for(self._url)
        self._dialect = dialect or dialect_for(self._url.host or "", self._model)

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r}, base_url={http.where(self._url).removesuffix(_PATH)!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking."""
        return "openai"

    async def prepare(self, request: ModelRequest) -> None:
        """Nothing to load: the server is somebody else's."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

        Args:
            request: its `seconds` bound the whole exchange.

        Raises:
            ModelError: the server cannot be reached, refuses, reports an error, or does not speak the protocol.
        """
        body = encode_request(self._model, request, self._dialect, self._stream)
        decoder = ChatDecoder(self._model)
        response: aiohttp.ClientResponse | None = None
        failure: ModelError | None = None
        try:
            session = self._session or await http.shared_session()
            response = await http.post(
                session, self._url, body, self._headers, proxy=self._proxy, seconds=request.seconds
            )
            if response.status >= 300:
                failure = self._refused(response.status, response.headers, await response.read())
            else:
                async for chunk in response.content.iter_any():
                    for event in decoder.feed(chunk):
                        yield event
                    if decoder.error is not None:
                        break
                    if decoder.done and not response.content.is_eof():
                        await http.drain(response)
                        break
        except http.NETWORK_FAULTS as fault:
            # Raised below, outside this block: aiohttp's exceptions carry the request's headers.
            failure = None if decoder.complete else http.network_error(fault, self._url)
        finally:
            if response is not None:
                # Gives the connection back if the response was read to its end, and closes it otherwise.
                response.release()
        if failure is None:
            for event in decoder.end():
                yield event
            failure = decoder.error
        if failure is not None:
            raise self._without_secrets(failure)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """What a status that is not one of success means."""
        if status < 400:
            return ModelError(
                "not_found",
                f"{http.where(self._url)} sends us on to another address, where a key must not follow.",
                hint="Set OPENAI_BASE_URL to the address the server itself has.",
                status=status,
            )
        if status in (400, 422):
            learned = learn(self._dialect, body.decode("utf-8", "replace"))
            if learned != self._dialect:
                self._dialect = learned
                return ModelError(
                    "bad_request",
                    f"{http.where(self._url)} takes requests in a slightly different form, which is used from now on.",
                    status=status,
                    retryable=True,
                )
        return reported_error(
            read_error(body),
            status=status,
            model=self._model,
            retryable=http.may_retry(headers),
            retry_after=http.retry_after(headers),
        )

    def _without_secrets(self, error: ModelError) -> ModelError:
        """The same error, should a server have quoted our key in it."""
        message = error.message
        for secret in self._secrets:
            message = message.replace(secret, "…")
        if message == error.message:
            return error
        return ModelError(
            error.kind,
            message,
            hint=error.hint,
            status=error.status,
            retryable=error.retryable,
            retry_after=error.retry_after,
        )


def _endpoint(base_url: str) -> URL:
    try:
        url = URL(base_url.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("the base URL (OPENAI_BASE_URL) is not one: it must look like https://host/v1")
    path = url.path.rstrip("/")
    return url.with_path(path if path.endswith(_PATH) else path + _PATH, keep_query=True)


def _checked_key(key: str) -> str:
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError("the API key (OPENAI_API_KEY) has characters in it that no key has; copy it again.")
    return key
