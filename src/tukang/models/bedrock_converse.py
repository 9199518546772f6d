"""Amazon Bedrock's Converse and ConverseStream: one form for the models of all makers.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and `API_runtime_ConverseStream`

The protocol's rules, and what is done about them (what the model of each maker takes: `bedrock_dialect`; encoding:
`bedrock_converse_encode`, `…_messages`, `…_media`; decoding: `bedrock_converse_decode`, `…_wire`; errors: `bedrock_errors`):

* **Who and in which order.** `user` and `assistant` only, alternating, `user` first and, with us, last: messages of one role
  are joined, a first word of the user's is made up, and after an assistant's message the note follows, or "Go on.": many
  models refuse to go on in the middle of a message. `system` stands apart.
* **Pairs.** A message with `toolUse` is followed at once by one user message that holds one `toolResult` for each, in the
  order asked: what is missing is made up as `outcome_unknown`, a result without its call is dropped.
* **Beside results.** Claude and Nova take other content in that message; all others refuse it (`Dialect.beside_results`): it
  then follows in a message of its own, with an assistant's "…" between; a note joins the system text instead.
* **Ids** `[a-zA-Z0-9_.:-]{1,64}`: the provider's own where there is a usable one, else ours. **Names**
  `[a-zA-Z0-9_-]{1,64}`: a name the model invented goes back with other letters replaced.
* **Arguments** are an object: what is none goes back as `{"unreadable": "…"}`, and nothing as `{}`.
* **Blank text** is refused, so it is left out; a result of nothing says "(no content)". A document needs a word beside it.
* **Documents** have a name of letters, digits, single blanks, `-`, `()` and `[]`, unique in a request; other letters are
  replaced, and a number is added to a name that comes again.
* **Results** hold text, images and documents as far as the model takes them there; others follow in the user's words.
  `status` says `error` for a fault.
* **Reasoning** goes back sealed and in place, only to Claude and only from Claude on Bedrock; other makers' models refuse it.
  A message may not end in it. Claude with a budget wants it first before the last calls: where the conversation has none
  there (it began on another provider), thinking stays off until the turn is over.
* **Parts kept for the provider** carry `bedrock:<maker>` as theirs, so that Nova never sees what Claude left.
* **Tool schemas.** Claude: as declared, in the dialect of `anthropic_schemas`; `strict` from 4.5 on where a schema allows it
  and there is room, each tool alone. Others: as declared, with `$ref` spelled out.
* **Structured output**: `outputConfig.textFormat`. Where the model has none (Nova, Llama, Claude before 4.5, …) it is asked
  for at the end of the system text.
* **Caching.** Cache points after the tools (Claude only), after the system text, at the end of the conversation, and where
  the last request had that one; never after reasoning or a document that is no PDF, which Bedrock refuses. Claude from 3.7
  on, and Nova. Four in all. The note comes after the last one.

| tool_choice | Claude, Nova | Mistral | others |
|---|---|---|---|
| `auto` | `toolChoice` left out | the same | the same |
| `required` | `any` | `any` | said in words after the conversation |
| a name | `tool` | `any`, and said in words | said in words |
| the answer's tool | `tool` | `any` where it is the only one, else as others | `outputConfig`, or said in words |
| `none`, tools off | emulated, see below | the same | the same |

`none` does not exist in Converse. Without tools in the conversation, `toolConfig` is left out, so that no call can come. With
any, Bedrock wants a `toolConfig`: the tools stay listed, for the cache too, it is said in words that none can be used (by the
loop's note, or by us), and calls that come all the same are the loop's to discard. Tools that the conversation holds and the
request does not offer are listed by name, as no longer on offer. Forced choice beside thinking: Claude with a budget refuses
it, so it does not think in that request; the newest Claude takes no forced choice at all: said in words. The answer's tool
(`ModelRequest.answer`) is then asked for by `outputConfig` (from 4.5 on), and the text is the call.

* `temperature`, `top_p`, `max_tokens`, `stop` go into `inferenceConfig`. A temperature above 1 is refused here. Left out
  where the model refuses them: beside thinking, `top_p` beside `temperature` (Claude from 4.1 on), both (from 4.7 on), and
  the first three with Nova's highest effort. Blank stops are left out.
* `think`: Claude: `thinking`, and `output_config.effort`; Nova 2: `reasoningConfig`; gpt-oss: `reasoning_effort` (off is
  `low`); Qwen: `reasoning_config`. On for any other model: refused. Off: no effect where nothing switches it.
* `parallel_calls=False` is asked for in the system text: Converse has no field for it.
* `seed` has no effect: Converse has no field for it.
* `extra`: Bedrock's own fields, joined with ours: `{"additionalModelRequestFields": {…}, "guardrailConfig": {…}}`.

`ModelRequest.conversation` has no effect: caching goes by prefix alone.

| neutral part | sent as | read from |
|---|---|---|
| Text | `text` | `text`, `citationsContent.content` |
| Thinking | `reasoningContent`, sealed and Claude's own | `reasoningContent` |
| ToolCall | `toolUse` | `toolUse` |
| ToolResult | `toolResult` | — |
| Image | `image` (bytes, or `s3://` to Nova); any other is named in text; an assistant's too | `image` |
| File | `document`; a text file of another type as its text; any other is named in text | — |
| ServerCall | verbatim with its result, to the maker it is from | `toolUse` of type `server_tool_use` |
| ServerResult | verbatim beside its call | `toolResult` in a reply |
| Citation | — (what it supports is in the text) | `citationsContent`, `citation` |
| Opaque | verbatim, to the maker it is from | any other block |

`inputTokens` leaves out what was read from, or written to, a cache; the neutral count holds it.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any, cast

import aiohttp

from tukang.errors import ConfigurationError, ModelError
from tukang.models.aws import Account
from tukang.models.base import ModelEvent, ModelRequest
from tukang.models.bedrock_converse_decode import ConverseDecoder
from tukang.models.bedrock_converse_encode import encode_request, without_force
from tukang.models.bedrock_dialect import Dialect, dialect_for, learn
from tukang.models.bedrock_service import path_of, send
from tukang.models.http import Route
from tukang.models.structured import as_call


class BedrockConverse:
    """A model on Amazon Bedrock, of any maker.

    Args:
        model: its id, an inference profile's (`us.anthropic.claude-sonnet-4-5-20250929-v1:0`), or an ARN.
        behind: the model behind an application inference profile, whose ARN does not tell; it is only looked up in the table.
        region, profile, token, base_url: see `tukang.models.aws.Account`; the environment's if None.
        account: who asks, in place of those four.
        name: as a user writes it; `bedrock:<model>` if None.
        session: the aiohttp session to use, with the proxy and the TLS settings it has; it stays its owner's to close. The
            shared one of the event loop if None.
        proxy: the address of a proxy (`http://name:password@host:3128`) for this model. If None, what the session has; for
            the shared one what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
        tls: an `ssl.SSLContext` for this model: the authorities to trust, a certificate of its own. The session's if None.
        headers: more headers for each request.
        stream: whether to ask for the reply in pieces. What comes back is read either way.
        dialect: what the model takes; worked out from the id if None.

    Raises:
        ConfigurationError: no model is named, or botocore is not installed.
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
        if not model:
            raise ConfigurationError("BedrockConverse has no model: name one, such as 'bedrock:amazon.nova-lite-v1:0'.")
        self._model = model
        self._name = name or f"bedrock:{model}"
        self._account = account or Account(region=region, profile=profile, token=token, base_url=base_url)
        self._route = Route(session, proxy, tls)
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._stream = stream
        self._dialect = dialect or dialect_for(behind or model)

    def __repr__(self) -> str:
        return f"BedrockConverse({self._model!r})"

    @property
    def name(self) -> str:
        """As a user writes it."""
        return self._name

    @property
    def provider(self) -> str:
        """Who keeps opaque parts and signed thinking: `bedrock:anthropic`, `bedrock:amazon`, …"""
        return self._dialect.provider

    async def prepare(self, request: ModelRequest) -> None:
        """Find the region and the credentials, which may take a while, and see whether the request can be sent.

        Raises:
            ConfigurationError: there are none, or a setting or a tool cannot be sent to this model.
        """
        encode_request(request, self._dialect)
        await self._account.open()

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
            body = encode_request(text or request, self._dialect)
        except ConfigurationError as fault:
            raise ModelError("configuration", str(fault)) from None
        events = send(
            self._account,
            self._route,
            path_of(self._model, "converse-stream" if self._stream else "converse"),
            body,
            partial(ConverseDecoder, self._dialect.provider, self._model),
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
