"""Ollama's own protocol, `/api/chat`, on this machine, another one, or ollama.com.

Source: https://docs.ollama.com/api/chat; where that is silent, Ollama's `api/types.go` and `server/routes.go`. Few recorded
conversations exist (tests/wire), none of a whole loop: what goes back in one follows the documentation's examples.

The protocol's rules, and what is done about them (encoding: `ollama_encode`; decoding: `ollama_decode`, `ollama_errors`):

* **Who and in which order.** `system` (the instructions), then `user`, `assistant` and `tool`. The server checks no order,
  the model's chat template does. Results follow their calls, one for each, in the order asked; a call without one gets an
  `outcome_unknown` fault, a result without its call is dropped. A message with nothing in it is left out. A reply that
  broke off may stand last: the server goes on from there.
* **Ids.** There were none for long; results are told apart by order and `tool_name`. Newer servers give `id`s: a usable one
  goes back, in the call and as `tool_call_id`. None is made up.
* **Names** in the history are mended to letters, digits, `_` and `-`.
* **Arguments** are an object: what is none goes back as `{"unreadable": "…"}`, and nothing as `{}`.
* **Content** is a string; `""` beside calls.
* **Thinking** goes back beside the calls it led to, in `thinking`, unless it is another provider's or sealed.
* **Pictures** are base64 in `images` of a user's message; those of a result follow in one after the last result. A picture
  that is only a URL, and a document that is not text, are named in words: the server fetches nothing and reads no PDF.
* **Schema dialect.** The server reads `type`, `properties`, `required`, `items`, `enum`, `anyOf` and `description`, and drops
  all else without a word, references too: they are spelled out, and the rest is put into the description (`schemas`).
* **The note** is a last message with the role `user`, or joins the user's message it would follow.
* **Errors** are `{"error": "…"}`, with a status or as the last line of a stream.

| tool_choice | how |
|---|---|
| `auto` | native: it is all this protocol has |
| `required`, a name | emulated: `format` holds a JSON Schema of one call of these tools, see below |
| `none`, tools off | emulated: no tools are listed, so no call can come; it costs the server's prompt cache once |

A forced call: a last sentence asks for it, the server makes a grammar of the schema, and the JSON that comes back is the call
(a call that comes the usual way counts as well). `returns` waits until then. Beside thinking, the server applies the grammar
after the thinking.

| setting | sent as |
|---|---|
| temperature, top_p, stop, seed, max_tokens | `options`: the same words, and `num_predict` |
| think | `think`: `true`, `false`, `low`, `medium`, `high`; a model that cannot think refuses `true` |
| parallel_calls | no field: `False` is a sentence in the instructions; `True` is how it is anyway |
| cache, `ModelRequest.conversation` | no effect: the server keeps the prompt's prefix by itself |
| `ModelRequest.returns` | `format` where no call may come; else, as it would forbid every call, words in the instructions |
| extra | into the body; its `options` are merged: `{"options": {"num_ctx": 16384}, "keep_alive": "30m"}` |

A conversation longer than `num_ctx` (4096 tokens unless set) is cut by the server without a word: set it.

| neutral part | sent as | read from |
|---|---|---|
| Text | `content` | `content` |
| Thinking | `thinking`, beside calls | `thinking` |
| ToolCall | `tool_calls[]` | `tool_calls[]` |
| ToolResult | a `tool` message; a fault is in its text | — |
| Image | `images[]` | — |
| File | its text, where it is text; else its name | — |
| Citation, ServerCall, ServerResult, Opaque | — (this protocol has no place for them) | — |
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import ssl
from collections.abc import AsyncIterator, Mapping

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.exchange import Address, checked_key, exchange
from tukang.models.ollama_decode import OllamaDecoder, read_error
from tukang.models.ollama_encode import encode_load, encode_request, forced
from tukang.models.ollama_errors import reported_error

DEFAULT_PORT = 11434

LOADING = 300.0
"""Seconds a server may take to load a model before the first turn; what is not loaded then is loaded within the turn."""


class Ollama:
    """A model behind an Ollama server.

    Args:
        model: its name on the server, such as `qwen3:8b`.
        host: where the server is, in any form that `OLLAMA_HOST` may have: `192.168.1.5`, `:8080`, `box:8080/path`,
            `https://ollama.com`. `OLLAMA_HOST` if None, else this machine.
        api_key: sent as a bearer token; `OLLAMA_API_KEY` if None. A server of one's own needs none.
        name: as a user writes it; `ollama:<model>` if None.
        session: the aiohttp session to use, with the proxy and the TLS settings it has; it stays its owner's to close. The
            shared one of the event loop if None.
        proxy: the address of a proxy (`http://name:password@host:3128`) for this model. If None, what the session has; for
            the shared one what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
        tls: an `ssl.SSLContext` for this model: the authorities to trust, a certificate of its own. The session's if None.
        headers: more headers for each request; they win over this adapter's own.
        stream: whether to ask for the reply in pieces. What comes back is read either way.

    Raises:
        ConfigurationError: no model is named, or the host is not one.
    """

    def __init__(
        self,
        model: str,
        *,
        host: str | None = None,
        api_key: str | None = None,
        name: str | None = None,
        session: aiohttp.ClientSession | None = None,
        proxy: str | None = None,
        tls: ssl.SSLContext | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = True,
    ) -> None:
        if not model:
            raise ConfigurationError(
                "Ollama has no model: name one, as in 'ollama:qwen3:8b'; `ollama list` shows which are there."
            )
        self._model = model
        self._name = name or f"ollama:{model}"
        url = base_url(os.environ.get("OLLAMA_HOST", "") if host is None else host)
        key = checked_key(os.environ.get("OLLAMA_API_KEY", "") if api_key is None else api_key, "OLLAMA_API_KEY")
        sent = CIMultiDict({"Content-Type": "application/json"})
        if key and url.user is None:
            sent["Authorization"] = f"Bearer {key}"
        sent.update(headers or {})
        secrets = (key, url.password or "", *(headers or {}).values())
        route = http.Route(session, proxy, tls)
        self._chat = Address(url / "api" / "chat", sent, route, secrets)
        self._load = Address(url / "api" / "generate", sent, route, secrets)
        self._stream = stream

    def __repr__(self) -> str:
        return f"Ollama({self._model!r}, host={http.where(self._chat.url).removesuffix('/api/chat')!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking."""
        return "ollama"

    async def prepare(self, request: ModelRequest) -> None:
        """Have the server load the model, which may take a minute, before a turn's clock starts.

        A server that cannot be reached, or does not know this, is not complained of here: the request itself will be.

        Raises:
            ConfigurationError: `tool_choice` names a tool that is not on offer.
        """
        forced(request)
        decoder = OllamaDecoder(self._model)
        with contextlib.suppress(ModelError):
            body = encode_load(self._model, request.settings)
            async for _ in exchange(self._load, body, decoder, self._refused, seconds=LOADING):
                pass

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

        Args:
            request: its `seconds` bound the whole exchange.

        Raises:
            ConfigurationError: `tool_choice` names a tool that is not on offer.
            ModelError: the server cannot be reached, refuses, reports an error, or does not speak the protocol.
        """
        body = encode_request(self._model, request, self._stream)
        decoder = OllamaDecoder(self._model, frozenset(tool.name for tool in forced(request)))
        return exchange(self._chat, body, decoder, self._refused, seconds=request.seconds)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        return reported_error(read_error(body), status=status, model=self._model, retry_after=http.retry_after(headers))


def base_url(host: str) -> URL:
    """The address that a value of `OLLAMA_HOST` means: without a scheme port 11434, with one that scheme's port.

    An address to listen on (`0.0.0.0`, `::`), which the same variable holds for the server, means this machine.
    Source: `envconfig.Host` and `ConnectableHost` in Ollama.

    Raises:
        ConfigurationError: it is no address.
    """
    text = host.strip().strip("\"'").strip()
    if text == "ollama.com":
        text = "https://ollama.com"
    scheme, between, rest = text.partition("://")
    if not between:
        scheme, rest = "http", text
    place, slash, path = rest.partition("/")
    if _is_address(place) and ":" in place:
        place = f"[{place}]"  # an IPv6 address without its brackets
    elif place.startswith(":") or not place:
        place = f"127.0.0.1{place}"
    try:
        url = URL(f"{scheme}://{place}{slash}{path}".rstrip("/"))
        if not between and url.explicit_port is None:
            url = url.with_port(DEFAULT_PORT)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(
            "the host (OLLAMA_HOST) is not one: it must look like 192.168.1.5:11434 or https://host"
        )
    if _is_address(url.host) and ipaddress.ip_address(url.host).is_unspecified:
        url = url.with_host("::1" if ":" in url.host else "127.0.0.1")
    return url


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
