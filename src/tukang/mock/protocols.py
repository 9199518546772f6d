"""Which protocol a path belongs to, and what makes up each: the table that puts requests and replies together.

A path ends in the protocol's own part; what stands before it names the client (see `tukang.mock.script`), apart from the
part of a base URL that the vendors' clients add or expect (`/v1`, `/openai`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

import msgspec

from tukang.errors import ModelErrorKind
from tukang.mock.replies import anthropic as anthropic_replies
from tukang.mock.replies import bedrock as bedrock_replies
from tukang.mock.replies import gemini as gemini_replies
from tukang.mock.replies import ollama as ollama_replies
from tukang.mock.replies import openai_chat as chat_replies
from tukang.mock.replies.openai_responses import ResponsesSpeech
from tukang.mock.requests import anthropic, bedrock, gemini, ollama, openai_chat, openai_responses
from tukang.mock.values import JSON, Address, Asked, Fault, Speech, Spoken

_EVENTS = "text/event-stream; charset=utf-8"
_FRAMES = "application/vnd.amazon.eventstream"

STATUS: Mapping[ModelErrorKind, int] = {
    "rate_limited": 429,
    "overloaded": 503,
    "authentication": 401,
    "not_found": 404,
    "bad_request": 400,
    "filtered": 400,
    "timeout": 504,
    "configuration": 500,
    "unexpected": 500,
}
"""The status of a scripted fault that does not say one. The kinds that are missing have none; see `tukang.mock.server`."""


class Protocol(msgspec.Struct, frozen=True):
    """One protocol.

    Args:
        name: as in the name of a model (`anthropic`).
        path: what a path ends in; `model` and `action` in it are those of the address.
        read: the request's side.
        speech: the reply's side.
        error: the body of an error.
        call_prefix: what ids of calls begin with.
        stream_type: the content type of a stream.
        error_name: what the header `x-amzn-ErrorType` says, for the protocols that have it.
        statuses: where this provider's status for a fault is another.
        hosts: whether the provider is played running tools of its own.
    """

    name: str
    path: re.Pattern[str]
    read: Callable[[JSON, Address], Asked]
    speech: Callable[[Spoken], Speech]
    error: Callable[[Fault], JSON]
    call_prefix: str
    stream_type: str = _EVENTS
    error_name: Callable[[Fault], str] | None = None
    statuses: Mapping[ModelErrorKind, int] = {}
    hosts: bool = False

    def status(self, kind: ModelErrorKind) -> int:
        """The status of a fault of this kind."""
        return self.statuses.get(kind, STATUS.get(kind, 500))


def _path(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<client>.*?){pattern}/?")


PROTOCOLS: tuple[Protocol, ...] = (
    Protocol(
        "openai",
        _path(r"(?:/openai)?(?:/deployments/(?P<model>[^/]+)|/v1)?/chat/(?P<action>completions)"),
        openai_chat.read,
        chat_replies.ChatSpeech,
        chat_replies.error,
        "call_",
    ),
    Protocol(
        "responses",
        _path(r"(?:/openai)?(?:/v1)?/(?P<action>responses)"),
        openai_responses.read,
        ResponsesSpeech,
        chat_replies.error,
        "call_",
        hosts=True,
    ),
    Protocol(
        "anthropic",
        _path(r"/v1/(?P<action>messages)"),
        anthropic.read,
        anthropic_replies.AnthropicSpeech,
        anthropic_replies.error,
        "toolu_",
        statuses={"overloaded": 529},
        hosts=True,
    ),
    Protocol(
        "bedrock",
        _path(r"/model/(?P<model>[^/]+)/(?P<action>converse|converse-stream)"),
        bedrock.read,
        bedrock_replies.ConverseSpeech,
        bedrock_replies.error,
        "tooluse_",
        _FRAMES,
        bedrock_replies.error_name,
        {"authentication": 403, "timeout": 408},
    ),
    Protocol(
        "bedrock-invoke",
        _path(r"/model/(?P<model>[^/]+)/(?P<action>invoke|invoke-with-response-stream)"),
        bedrock.read_invoke,
        bedrock_replies.InvokeSpeech,
        bedrock_replies.error,
        "toolu_bdrk_",
        _FRAMES,
        bedrock_replies.error_name,
        {"authentication": 403, "timeout": 408},
    ),
    Protocol(
        "ollama",
        _path(r"/api/(?P<action>chat)"),
        ollama.read,
        ollama_replies.OllamaSpeech,
        ollama_replies.error,
        "call_",
        "application/x-ndjson",
    ),
    Protocol(
        "gemini",
        _path(r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<action>generateContent|streamGenerateContent)"),
        gemini.read,
        gemini_replies.GeminiSpeech,
        gemini_replies.error,
        "fc_",
    ),
)


class Found(msgspec.Struct, frozen=True):
    """Where a request goes: its protocol, the client's name and its address."""

    protocol: Protocol
    client: str
    address: Address


def find(raw_path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> Found | None:
    """Where a request goes; None when no protocol has such a path.

    Args:
        raw_path: the path as it was sent, percent signs and all: a model's name may have a slash in it.
        query: the query.
        headers: with lower-case names.
    """
    for protocol in PROTOCOLS:
        match = protocol.path.fullmatch(raw_path)
        if match:
            said = match.groupdict()
            address = Address(unquote(said.get("model") or ""), said["action"], query, headers)
            return Found(protocol, unquote(said["client"]).strip("/"), address)
    return None
