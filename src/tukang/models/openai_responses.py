"""OpenAI Responses (`/v1/responses`), and the servers that speak it.

Source: https://platform.openai.com/docs/api-reference/responses

The protocol's rules, and what is done about them (encoding: `openai_responses_encode`, `openai_responses_items`; decoding:
`openai_responses_decode`, `openai_responses_output`; how servers differ: `openai_responses_dialect`):

* **Nothing is kept by the server.** `store` is false: each request carries the whole conversation, as items in `input`.
* **Who and in which order.** `instructions` beside the input; in it messages of `user` and `assistant`, calls and their
  outputs. Each call must have an output, each output its call: results go in the order asked, a call without one gets an
  `outcome_unknown` fault, a result without its call is dropped. The first and the last message may be anybody's.
* **Reasoning and what it led to are one unit.** A reasoning item goes back only sealed (`encrypted_content`, or the text
  itself where a server shows it), to the server it came from, in its place, and only if the item it led to follows. An item
  keeps its own id (`fc_…`, `msg_…`) only where all the reasoning of its message goes back; an id never stands twice.
  A model that takes no reasoning, or a server that cannot open it, is noticed by its refusal and gets none from then on.
* **Ids.** An output names its call by `call_id`, at most 64 characters: the provider's own where usable, otherwise ours.
* **Names.** `[a-zA-Z0-9_-]{1,64}`, in the history too: a name the model invented goes back with other letters replaced.
* **Arguments** are a string. Many servers parse it, so what is no JSON object goes back as `{"unreadable": "…"}`.
* **What cannot be said neutrally** about a text or a call (item id, `phase`, `namespace`, `caller`, that it is a custom
  tool's) stands in an `Opaque` part right before it.
* **Tools the provider runs** are declared (`openai_responses_hosted`), or asked for by
  `Settings(extra={"tools": [{"type": "tool_search"}]})`, beside our own. Their items go back as they came, but for a call
  that waits for an output only a client of its own kind can give (a computer, a local shell, a patch): that is kept in the
  conversation and not sent. What they were used for is not counted (`Usage.served` stays empty).
* **Approvals of remote MCP.** An `mcp_approval_request` goes back as it came, and after it what was decided.
* **Schema dialect.** Strict where the schema allows it, else not strict, for each tool alone (`openai_strict`,
  `openai_schemas`): properties that may be left out are nullable on the wire, and what strict mode forced to null is taken
  out of the arguments again. OpenAI takes at most 128 tools.
* **The note** is a last message with the role `user`; after a user's message it is joined to that one.

| tool_choice | sent as |
|---|---|
| `auto` | left out: the default |
| `required`, `none` | the same word: native |
| a tool's name | `{"type": "function", "name": …}`: native |
| no tools now (`tools_off`) | the tools stay listed, for the cache, with `"none"`: native |
| forced beside thinking | the same: native |

| setting | sent as |
|---|---|
| `temperature`, `top_p` | the same; to a model that refused them (one that reasons) they are not sent again |
| `max_tokens` | `max_output_tokens`, reasoning included; OpenAI takes no less than 16 |
| `stop` | refused (`ConfigurationError`): the protocol has none |
| `think` | `reasoning.effort`: `low`, `medium`, `high`; on is `medium` and asks for a summary; off: see below |
| `seed` | no effect here: the protocol has none |
| `parallel_calls` | `parallel_tool_calls`, where there are tools |
| `cache` | `prompt_cache_key`, from the name of the conversation (OpenAI and Azure); see below |
| `extra` | as it is; its `tools` and `include` come after ours, its `text` and `reasoning` are merged with ours |

Thinking off is the least effort the model has: `none`, `minimal` for the first gpt-5, `low` for the o series; for a model
that does not reason nothing is sent. A server that refuses summaries is not asked again. OpenAI caches prefixes by itself,
from 1,024 tokens on; the key sends the rounds of one conversation to the same cache.

`ModelRequest.returns` is `text.format`, a `json_schema`: strict where the schema allows it, else told to the model without
being enforced. A schema whose type is not `object` is refused (`ConfigurationError`).

| neutral part | sent as | read from |
|---|---|---|
| Text | `input_text`, or a plain string; the assistant's as `output_text` in a `message` | `output_text` of a `message` |
| Thinking | its own `reasoning` item, if sealed here | `reasoning`; the item itself is the signature |
| ToolCall | `function_call`, `custom_tool_call` | the same |
| ToolResult | `function_call_output`, `custom_tool_call_output` (images and files: see below) | — |
| Image | `input_image`, data as a data URL | the result of an `image_generation_call` |
| File | `input_file`: data as a data URL, or `file_url` | — |
| Citation | `annotations` of its text, if it came from here | `annotations` |
| ServerCall | its own item, if it came from here | `web_search_call`, `mcp_call`, … |
| ServerResult | its own item, if it came from here | `shell_call_output`, `tool_search_output`, … |
| Opaque | its own item, if it came from here | `compaction`, `mcp_list_tools`, and every item not known yet |

Images and files of a result stand in its output where the server takes them there (OpenAI, Azure), else in one `user` message
after the last result.

A refusal (`refusal` parts, which also come beside `completed`) ends the reply as `refused`; `incomplete` is `length` or
`filtered` by its reason; `failed`, `cancelled`, an `error` event, and a stream that ends without a final event are errors.

Azure: set `OPENAI_BASE_URL` to `https://<resource>.openai.azure.com`, to that with `/openai/v1`, or to
`https://<resource>.openai.azure.com/openai?api-version=…`; the key goes into `api-key`, and the model is the deployment.
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
from tukang.models.openai_chat_decode import read_error
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_responses_decode import ResponsesDecoder
from tukang.models.openai_responses_dialect import Dialect, dialect_for, learn
from tukang.models.openai_responses_encode import check, encode_request
from tukang.models.openai_responses_hosted import cannot_serve
from tukang.models.openai_settings import key_headers, on_azure
from tukang.models.openai_strict import forced_by
from tukang.models.openai_undoing import undoing
from tukang.tools.hosted import Hosted

OFFICIAL_BASE_URL = "https://api.openai.com/v1"
_PATH = "/responses"


class OpenAIResponses:
    """A model behind a server of the Responses protocol.

    Args:
        model: its name on the wire, such as `gpt-5-mini`; the environment's `OPENAI_MODEL` if None.
        base_url: where the server is, up to and without `/responses`; a query in it is kept (Azure's `?api-version=…`).
            `OPENAI_BASE_URL` if None, else OpenAI's own.
        api_key: sent as a bearer token, to Azure as `api-key`; if None `OPENAI_API_KEY`, for Azure `AZURE_OPENAI_API_KEY`
            before it. A server of one's own may need none.
        name: as a user writes it; `responses:<model>` if None.
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
            raise ConfigurationError(
                "OpenAIResponses has no model: name one, or set OPENAI_MODEL, for example gpt-5-mini."
            )
        self._name = name or f"responses:{self._model}"
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
        return f"OpenAIResponses({self._model!r}, base_url={http.where(self._address.url).removesuffix(_PATH)!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and sealed reasoning: this server."""
        return self._dialect.provider

    def cannot_serve(self, tool: Hosted) -> str | None:
        """See `models.base.Serves`."""
        return cannot_serve(tool, self._dialect)

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
        body = encode_request(self._model, request, self._dialect, self._stream)
        decoder = ResponsesDecoder(self._model, self._dialect.provider)
        address = self._address.with_secrets([secret for tool in request.hosted for secret in tool.secrets])
        events = exchange(address, body, decoder, self._refused, seconds=request.seconds)
        forced = forced_by(request.tools, self._dialect)
        return undoing(events, forced) if forced else events

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """What a status that is not one of success means."""
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
            retryable=http.may_retry(headers),
            retry_after=http.retry_after(headers),
        )


def _endpoint(base_url: str) -> URL:
    """The address of `/responses` for a base URL, also one that was meant for chat completions."""
    try:
        url = URL(base_url.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("the base URL (OPENAI_BASE_URL) is not one: it must look like https://host/v1")
    path = url.path.rstrip("/").removesuffix("/chat/completions")
    if on_azure(url):
        path = path.partition("/deployments/")[0] or "/openai/v1"
    return url.with_path(path if path.endswith(_PATH) else path + _PATH, keep_query=True)
