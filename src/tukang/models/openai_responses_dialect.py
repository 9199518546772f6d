"""Where servers that speak OpenAI's Responses protocol differ in what they accept, and what a refusal teaches about one.

Pure values and functions; nothing here knows how a message is written.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec
from msgspec.structs import replace

from tukang.models.openai_settings import REFUSED_SAMPLING
from tukang.models.openai_strict import REFUSED_SCHEMA
from tukang.tools.hosted import Family, Kind

PROVIDER = "responses"
"""Who keeps sealed reasoning and opaque parts, on OpenAI's own server. On any other it is `responses@<host>`: what one
server sealed, another cannot open."""

_REASONING = re.compile(r"(?:.*[/.:])?(?:o[1-9]|gpt-[5-9]|gpt-[1-9]\d|codex|computer-use)")
_NEVER_REASONING = re.compile(r"(?:ft:)?(?:gpt-3|gpt-4|chatgpt)|.*-chat(?:-|$)")
_NO_OFF_SWITCH = re.compile(r"(?:.*[/.:])?(?:o[1-9]|codex)")
_MINIMAL = re.compile(r"(?:.*[/.:])?gpt-5(?:-|$)")
_STORE_UNKNOWN = re.compile(
    r"(?:unknown|unsupported|unexpected|unrecognized|extra)[^.]*\bstore\b|\bstore\b[^.]*(?:not permitted|not supported)",
    re.IGNORECASE,
)


OPENAIS: frozenset[Kind] = frozenset({"web_search", "file_search", "code", "image_generation", "mcp"})
"""What OpenAI runs itself; a server that is not known is taken at its word, and refuses what it has not."""


class Dialect(msgspec.Struct, frozen=True):
    """What one server, and the model on it, accepts.

    Args:
        provider: who keeps sealed reasoning and opaque parts; see `PROVIDER`.
        sealed: whether to ask for encrypted reasoning (`include`). Models that do not reason refuse the question.
        reasoning_back: whether reasoning goes back with what it led to. Models that do not reason refuse it.
        summary: whether to ask for a summary of the reasoning where thinking is asked for.
        sampling: whether the model takes `temperature` and `top_p`; one that reasons refuses them.
        takes_store: whether the server knows `store`, so that it can be asked to keep nothing.
        cache_key: whether the server takes a `prompt_cache_key`.
        media_in_results: whether a result may hold images and files; if not, they follow in a user's message.
        least_effort: the effort that stands for "no thinking"; None where the model does not reason anyway.
        most_tools: how many tools the server takes; None where that is not known.
        strict: whether tools are sent in strict mode where their schema allows it. It is part of this protocol, and its
            default.
        hosted: the kinds of tools that it runs itself; see `openai_responses_hosted`.
        family: under whose name a declaration has fields for it.
        includes_results: whether it can be asked for the results of its own tools.
        not_strict: names of tools whose strict schema the server has refused.
    """

    provider: str = PROVIDER
    sealed: bool = False
    reasoning_back: bool = True
    summary: bool = True
    sampling: bool = True
    takes_store: bool = True
    cache_key: bool = False
    media_in_results: bool = False
    least_effort: Literal["none", "minimal", "low"] | None = "none"
    most_tools: int | None = None
    strict: bool = True
    not_strict: frozenset[str] = frozenset()
    hosted: frozenset[Kind] = OPENAIS
    family: Family = "openai"
    includes_results: bool = True

    @property
    def spelling(self) -> str:
        """The name under which encoded messages are kept: all that changes how a message is written."""
        return f"openai_responses/{self.provider}/{self.reasoning_back:d}{self.media_in_results:d}"


def dialect_for(host: str, model: str) -> Dialect:
    """What is known beforehand of a server and a model.

    * OpenAI's reasoning models (o1 and later, gpt-5 and later), wherever they are served, seal their reasoning when asked;
      gpt-4 and earlier, and the chat models, refuse the question and take no reasoning back. grok-4 seals too.
    * OpenAI and Azure take images and files in results, a cache key, and at most 128 tools.
    """
    official = _served_by(host, "openai.com")
    openai = official or _served_by(host, "azure.com")
    never = _NEVER_REASONING.match(model) is not None
    reasons = not never and _REASONING.match(model) is not None
    grok = _served_by(host, "x.ai") and "grok-4" in model and "non-reasoning" not in model
    return Dialect(
        provider=PROVIDER if official else f"{PROVIDER}@{host}",
        sealed=reasons or grok,
        reasoning_back=not never,
        cache_key=openai,
        media_in_results=openai,
        least_effort=_least_effort(model) if reasons else None if openai else "none",
        most_tools=128 if openai else None,
    )


def bedrock_dialect(host: str, model: str) -> Dialect:
    """Amazon Bedrock's endpoint of this protocol (bedrock-mantle), or what stands in for it at another address.

    Source: https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-server-side.html
    """
    kinds: frozenset[Kind] = frozenset({"aws"} if "gpt-oss" in model else {"aws", "web_search"})
    return replace(dialect_for(host, model), hosted=kinds, family="bedrock", includes_results=False)


def learn(dialect: Dialect, complaint: str) -> Dialect:
    """What a refusal (status 400 or 422) teaches about the server: the dialect to try next, or the same one.

    Args:
        dialect: the one that was refused.
        complaint: the body of the refusal.
    """
    words = complaint.lower()
    if dialect.strict and (refused := REFUSED_SCHEMA.search(complaint)):
        return replace(dialect, not_strict=dialect.not_strict | {refused[1]})
    if REFUSED_SAMPLING.search(complaint):
        return replace(dialect, sampling=False)
    if "invalid_encrypted_content" in words or "reasoning input items can only" in words:
        return replace(dialect, reasoning_back=False)
    if dialect.sealed and ("encrypted content is not supported" in words or "reasoning.encrypted_content" in words):
        return replace(dialect, sealed=False)
    if dialect.summary and ("reasoning.summary" in words or "reasoning summar" in words):
        return replace(dialect, summary=False)
    if dialect.cache_key and "prompt_cache_key" in words:
        return replace(dialect, cache_key=False)
    if dialect.includes_results and ("_call.results" in words or "_call.outputs" in words or "action.sources" in words):
        return replace(dialect, includes_results=False)
    if dialect.takes_store and _STORE_UNKNOWN.search(complaint):
        return replace(dialect, takes_store=False)
    if "effort" in words:
        if dialect.least_effort == "none" and "'none'" in words:
            return replace(dialect, least_effort="minimal")
        if dialect.least_effort == "minimal" and "'minimal'" in words:
            return replace(dialect, least_effort="low")
    return dialect


def _least_effort(model: str) -> Literal["none", "minimal", "low"]:
    if _NO_OFF_SWITCH.match(model):
        return "low"
    return "minimal" if _MINIMAL.match(model) else "none"


def _served_by(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)
