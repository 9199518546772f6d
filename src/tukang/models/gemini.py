"""Google's Gemini API: `generateContent` and `streamGenerateContent`, version `v1beta`.

Source: https://ai.google.dev/api/generate-content and https://ai.google.dev/gemini-api/docs/function-calling. No recording of
this protocol is at hand: its tests are made from the documentation and the types of the `google-genai` SDK.

The protocol's rules, and what is done about them (encoding: `gemini_encode`, `gemini_parts`; decoding: `gemini_decode`,
`gemini_errors`):

* **Who and in which order.** `systemInstruction` (the instructions) beside `contents`, whose roles `user` and `model` take
  turns: neighbours of one role are joined. A user's content stands first and last: where there is none, a short sentence is
  put there. A content with calls is followed at once by one with exactly one `functionResponse` for each, in the order
  asked; a call without a result gets an `outcome_unknown` fault, a result without its call is dropped. Other parts of that
  content (a note, pictures) come after the responses. Empty texts are left out.
* **Ids** are given by newer models only. A usable one goes back in the call and in its response; none is made up.
* **Names** begin with a letter or `_`: names the model invented go back mended.
* **Arguments** are an object: what is none goes back as `{"unreadable": "…"}`, and nothing as `{}`.
* **Results** are an object. A JSON object goes as it is, anything else under `output`, a fault under `error`. Google reads
  all numbers as floating: a result with whole numbers beyond 2⁵³ goes as text, so that no order number is changed.
* **Thought signatures** seal a part: a call, a text, a thought. They are kept right behind what they seal, as `Opaque` (a
  thought's in the `Thinking` itself), and go back on that part, to Gemini only. From Gemini 3 on, the first call of each
  model's content must have one; a call that Gemini did not make gets the mark that Google names for that, and so does one
  that goes back under a mended name: its signature seals another. Thoughts without a signature are summaries for people and
  stay here.
* **Schema dialect.** `parametersJsonSchema`, with the keywords that Google lists for JSON Schema; references are spelled out,
  and what has no keyword is put into the description (`schemas`). The older `parameters` takes less and is not used. The mode
  `VALIDATED`, a preview, is not asked for.
* **The note** is a text of the last user's content.
* **Tools that Google runs** are declared; see `gemini_hosted`.
* **Errors** follow https://google.aip.dev/193: `error.status`, and details with `retryDelay`. A wrong key has status 400.
* **The key** goes in the header `x-goog-api-key`, never in the address.

| tool_choice | how |
|---|---|
| `auto` | native: left out, `AUTO` is the default |
| `required` | native: `functionCallingConfig.mode` `ANY` |
| a name | native: `ANY` with `allowedFunctionNames` |
| `none`, tools off | native: `NONE`; the tools stay listed, for the cache |

All of them go beside thinking.

| setting | sent as, in `generationConfig` |
|---|---|
| temperature, top_p, seed | `temperature`, `topP`, `seed` |
| stop | `stopSequences`, at most five |
| max_tokens | `maxOutputTokens`; thinking counts |
| think, from Gemini 3 on | `thinkingLevel`; on is the model's own, off the lowest: `minimal` for Flash-Lite, else `low` |
| think, Gemini 2.5 | `thinkingBudget`: on -1, off 0 (Pro cannot: 128), then 1024, 8192, 24576 |
| parallel_calls | no field: `False` is a sentence in the instructions; `True` is how it is anyway |
| cache, `ModelRequest.conversation` | no effect: Gemini caches prefixes by itself and wants no marks |
| `ModelRequest.returns` | `responseJsonSchema`; beside tools before Gemini 3, which refuses it, words in the instructions |
| extra | into the body (`safetySettings`, `cachedContent`, …); objects are merged (`generationConfig`), `tools` are joined |

| `finishReason` | is |
|---|---|
| `STOP` | stop, or calls |
| `MAX_TOKENS`, `CONTINUATION` | length |
| `SAFETY`, `RECITATION`, `LANGUAGE`, `BLOCKLIST`, `PROHIBITED_CONTENT`, `SPII`, `ESCALATION`, `MODEL_ARMOR` | filtered |
| `IMAGE_SAFETY`, `IMAGE_PROHIBITED_CONTENT`, `IMAGE_RECITATION` | filtered |
| `MALFORMED_FUNCTION_CALL`, `MALFORMED_RESPONSE`, `UNEXPECTED_TOOL_CALL` | a `ModelError`: the same request may succeed |
| `TOO_MANY_TOOL_CALLS`, `MISSING_THOUGHT_SIGNATURE`, `PUP_LIMITED_DISABLED` | a `ModelError` |
| others | unknown, or calls |
| `promptFeedback.blockReason` | a `ModelError`, filtered |

| neutral part | sent as | read from |
|---|---|---|
| Text | `text` | `text` |
| Thinking | with Gemini's signature: `text`, `thought`, `thoughtSignature` | `text` with `thought` |
| ToolCall | `functionCall` | `functionCall` |
| ToolResult | `functionResponse`; its pictures and PDFs inside from Gemini 3 on, else after the last one | — |
| Image, File | `inlineData`, `fileData` for a URL; text files as text; other types are named in text | `inlineData` |
| ServerCall, ServerResult | Gemini's own verbatim | `executableCode`, `codeExecutionResult`, `toolCall`, `toolResponse` |
| Citation | — (what it supports is in the text) | `groundingMetadata`, `citationMetadata` |
| Opaque | Gemini's own verbatim: a seal on its part, or a part | `thoughtSignature`, parts that are none of the above |
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import AsyncIterator, Mapping

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.exchange import Address, checked_key, exchange
from tukang.models.gemini_decode import GeminiDecoder
from tukang.models.gemini_encode import Dialect, dialect_for, encode_request
from tukang.models.gemini_errors import read_error, reported_error
from tukang.models.gemini_hosted import cannot_serve
from tukang.tools.hosted import Hosted

OFFICIAL_BASE_URL = "https://generativelanguage.googleapis.com"
_VERSION = "v1beta"
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")


class Gemini:
    """A model behind the Gemini API.

    Args:
        model: its name, such as `gemini-2.5-flash`, or the whole resource (`tunedModels/…`).
        base_url: where the server is, up to and without `/v1beta`. `GOOGLE_GEMINI_BASE_URL` if None, else Google's own.
        api_key: `GOOGLE_API_KEY` or `GEMINI_API_KEY` if None; the first goes first, as in Google's SDK.
        name: as a user writes it; `gemini:<model>` if None.
        session: the aiohttp session to use, with the proxy and the TLS settings it has; it stays its owner's to close. The
            shared one of the event loop if None.
        proxy: the address of a proxy (`http://name:password@host:3128`) for this model. If None, what the session has; for
            the shared one what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
        tls: an `ssl.SSLContext` for this model: the authorities to trust, a certificate of its own. The session's if None.
        headers: more headers for each request; they win over this adapter's own.
        stream: whether to ask for the reply in pieces. What comes back is read either way.
        dialect: where the model differs from others; worked out from its name if None.

    Raises:
        ConfigurationError: no model is named, the base URL is not one, or Google's own server is meant and there is no key.
    """

    def __init__(
        self,
        model: str,
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
        if not _MODEL.fullmatch(model):
            raise ConfigurationError(f"Gemini has no model {model!r}: name one, as in 'gemini:gemini-2.5-flash'.")
        self._model = model
        self._name = name or f"gemini:{model}"
        self._base = _base(base_url or os.environ.get("GOOGLE_GEMINI_BASE_URL") or OFFICIAL_BASE_URL)
        found = os.environ.get("GOOGLE_API_KEY") or os.environ.get("GEMINI_API_KEY") or ""
        key = checked_key(found if api_key is None else api_key, "GEMINI_API_KEY or GOOGLE_API_KEY")
        sent = CIMultiDict({"Content-Type": "application/json"})
        if key:
            sent["x-goog-api-key"] = key
        sent.update(headers or {})
        if self._base.host == "generativelanguage.googleapis.com" and not {"x-goog-api-key", "authorization"} & {
            header.lower() for header in sent
        }:
            raise ConfigurationError(f"{self._base.host} needs a key: set GEMINI_API_KEY (or GOOGLE_API_KEY).")
        resource = model if "/" in model else f"models/{model}"
        method = "streamGenerateContent" if stream else "generateContent"
        url = self._base / _VERSION / f"{resource}:{method}"
        self._address = Address(
            url.with_query(alt="sse") if stream else url,
            sent,
            http.Route(session, proxy, tls),
            (key, self._base.password or "", *(headers or {}).values()),
        )
        self._dialect = dialect or dialect_for(model)

    def __repr__(self) -> str:
        return f"Gemini({self._model!r}, base_url={http.where(self._base)!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking."""
        return "gemini"

    def cannot_serve(self, tool: Hosted) -> str | None:
        """See `models.base.Serves`."""
        return cannot_serve(tool)

    async def prepare(self, request: ModelRequest) -> None:
        """Nothing to load: the server is somebody else's. What can never be sent is said here, before a turn starts.

        Raises:
            ConfigurationError: as in `stream`.
        """
        encode_request(request, self._dialect)

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send one request, once, and yield what comes back, ending in `ReplyEnded`.

        Args:
            request: its `seconds` bound the whole exchange.

        Raises:
            ConfigurationError: `tool_choice` names a tool that is not on offer, or there are too many `stop` texts.
            ModelError: the server cannot be reached, refuses, reports an error, or does not speak the protocol.
        """
        body = encode_request(request, self._dialect)
        return exchange(self._address, body, GeminiDecoder(self._model), self._refused, seconds=request.seconds)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        return reported_error(read_error(body), status=status, model=self._model, retry_after=http.retry_after(headers))


def _base(base_url: str) -> URL:
    try:
        url = URL(base_url.strip().rstrip("/"))
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("the base URL (GOOGLE_GEMINI_BASE_URL) is not one: it must look like https://host")
    return url.with_path(url.path.rstrip("/").removesuffix(f"/{_VERSION}"))
