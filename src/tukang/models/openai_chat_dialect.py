"""Where servers that speak OpenAI's Chat Completions differ in what they accept, and what a refusal teaches about one.

Pure values and functions; nothing here knows how a message is written.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal

import msgspec
from msgspec.structs import replace

from tukang.models.openai_settings import REFUSED_SAMPLING
from tukang.models.openai_strict import REFUSED_SCHEMA

PROVIDER = "openai"
"""Who keeps what comes sealed, on OpenAI's own server. On any other it is `openai@<host>`: what one server sealed, another
cannot open."""

_STRICT_UNKNOWN = re.compile(
    r"(?:unknown|unsupported|unexpected|unrecognized|extra|additional)[^\n]{0,60}\bstrict\b|"
    r"\bstrict\b[^\n]{0,60}(?:not permitted|not supported|not allowed|unexpected)",
    re.IGNORECASE,
)
_NO_FORCE = re.compile(r"support|incompatible|thinking", re.IGNORECASE)
_ONLY_NEW_LIMIT = re.compile(r"(?:.*/)?(?:o\d|gpt-[5-9]|gpt-\d\d)")
_UNSEALED_GEMINI = re.compile(r"(?:.*/)?gemini-[12]\b")


class Dialect(msgspec.Struct, frozen=True, dict=True):
    """What one server, and the model on it, accepts.

    Args:
        provider: who keeps what comes sealed; see `PROVIDER`.
        limit_field: the name of the token limit. OpenAI's reasoning models refuse `max_tokens`, most other servers know
            nothing else.
        usage_in_stream: whether to ask for token counts in a stream (`stream_options`); without it, a server may send
            them anyway.
        sampling: whether the model takes `temperature` and `top_p`; one that reasons refuses them.
        call_ids: `any`, `forty` for OpenAI, which takes at most forty characters, or `nine` for Mistral, which takes
            exactly nine letters and digits. A provider's own id goes back as it came wherever that is possible.
        no_text: the content of an assistant message that only asks for calls. OpenAI sends and takes `null`; a few
            servers insist on a string.
        user_after_tool: whether a user may speak right after a result; if not, the assistant says "OK" between them.
        thinking_field: the field in which reasoning goes back beside the calls it led to; None to keep it here.
        sealed_back: whether what came sealed (`reasoning_details`, `extra_content`) goes back to the server it came from.
        google_seal: whether a message with calls that this server did not seal gets the mark Google names for that.
        cache_key: whether the server takes a `prompt_cache_key`; many refuse a field they do not know.
        strict: whether tools are sent in strict mode where their schema allows it. A server that does not know strict mode
            ignores it, refuses it, or compiles a grammar that takes a minute.
        not_strict: names of tools whose strict schema the server has refused.
        most_tools: how many tools the server takes; None where that is not known.
        forced: whether `tool_choice` may demand a call. Several servers refuse that of a model that thinks.
        structured: whether there is a `response_format` with a schema; it is asked for where a call cannot be demanded.
    """

    provider: str = PROVIDER
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage_in_stream: bool = True
    sampling: bool = True
    call_ids: Literal["any", "forty", "nine"] = "any"
    no_text: Literal["null", "empty"] = "null"
    user_after_tool: bool = True
    thinking_field: Literal["reasoning_content", "reasoning"] | None = None
    sealed_back: bool = True
    google_seal: bool = False
    cache_key: bool = False
    strict: bool = False
    not_strict: frozenset[str] = frozenset()
    most_tools: int | None = None
    forced: bool = True
    structured: bool = True

    @cached_property
    def spelling(self) -> str:
        """The name under which encoded messages are kept: all that changes how a message is written."""
        sealed = f"{self.provider if self.sealed_back else ''}/{self.google_seal:d}"
        return f"openai_chat/{self.call_ids}/{self.no_text}/{self.thinking_field}/{sealed}"


def dialect_for(host: str, model: str) -> Dialect:
    """What is known beforehand of a server and a model.

    * `max_completion_tokens` for OpenAI's models from o1 and gpt-5 on, wherever they are served; `max_tokens` otherwise.
    * OpenAI and Azure have strict mode, and take at most 128 tools. OpenAI's own server takes a `prompt_cache_key`.
    * Mistral: ids of nine characters; token counts come without asking, and asking was long refused; no user right after a
      result.
    * DeepSeek: `reasoning_content` must come back beside the calls it led to, and is ignored elsewhere. Crusoe takes it back
      as `reasoning`, the field it comes in.
    * Google: from Gemini 3 on, the first call of each message must be sealed.
    """
    mistral = _served_by(host, "mistral.ai")
    openai = _served_by(host, "openai.com") or _served_by(host, "azure.com")
    return Dialect(
        provider=PROVIDER if _served_by(host, "openai.com") else f"{PROVIDER}@{host}",
        limit_field="max_completion_tokens" if _ONLY_NEW_LIMIT.match(model) else "max_tokens",
        usage_in_stream=not mistral,
        call_ids="nine" if mistral else "forty" if openai else "any",
        user_after_tool=not mistral,
        thinking_field=_thinking_field(host),
        google_seal=_served_by(host, "googleapis.com") and not _UNSEALED_GEMINI.match(model),
        cache_key=host == "api.openai.com",
        strict=openai,
        most_tools=128 if openai else None,
    )


def learn(dialect: Dialect, complaint: str) -> Dialect:
    """What a refusal (status 400 or 422) teaches about the server: the dialect to try next, or the same one.

    Args:
        dialect: the one that was refused.
        complaint: the body of the refusal.
    """
    if dialect.strict and (refused := REFUSED_SCHEMA.search(complaint)):
        return replace(dialect, not_strict=dialect.not_strict | {refused[1]})
    if dialect.strict and _STRICT_UNKNOWN.search(complaint):
        return replace(dialect, strict=False)
    if "tool_choice" in complaint and _NO_FORCE.search(complaint):
        return replace(dialect, forced=False)
    if "response_format" in complaint:
        return replace(dialect, structured=False)
    if REFUSED_SAMPLING.search(complaint):
        return replace(dialect, sampling=False)
    if "stream_options" in complaint:
        return replace(dialect, usage_in_stream=False)
    if "max_tokens" in complaint and "max_completion_tokens" in complaint:
        other = "max_tokens" if dialect.limit_field == "max_completion_tokens" else "max_completion_tokens"
        return replace(dialect, limit_field=other)
    if "role 'user' after role 'tool'" in complaint:
        return replace(dialect, user_after_tool=False)
    if "length of 9" in complaint:
        return replace(dialect, call_ids="nine")
    if "maximum length 40" in complaint and dialect.call_ids == "any":
        return replace(dialect, call_ids="forty")
    if "reasoning_details" in complaint or "extra_content" in complaint:
        return replace(dialect, sealed_back=False, google_seal=False)
    if "thought_signature" in complaint and "missing" in complaint.lower():
        return replace(dialect, google_seal=True)
    if "reasoning_content" in complaint and "missing" in complaint.lower():
        return replace(dialect, thinking_field="reasoning_content")
    return dialect


def _thinking_field(host: str) -> Literal["reasoning_content", "reasoning"] | None:
    if _served_by(host, "deepseek.com"):
        return "reasoning_content"
    return "reasoning" if _served_by(host, "crusoecloud.com") else None


def _served_by(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)
