"""The token counts of a chat completion in neutral words.

Pure. Servers send what they like as `usage`: what is no number there, or counts nothing, is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, cast

import msgspec

from tukang.conversation import Usage

_NUMBER = (int, float)
_Tokens = Annotated[int, msgspec.Meta(ge=0)]


class _OfPrompt(msgspec.Struct, frozen=True, gc=False):
    cached_tokens: _Tokens = 0
    cache_write_tokens: _Tokens = 0


class _OfReply(msgspec.Struct, frozen=True, gc=False):
    reasoning_tokens: _Tokens = 0


class _Counts(msgspec.Struct, frozen=True, gc=False):
    """`usage`, as far as it is read."""

    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0
    total_tokens: _Tokens = 0
    prompt_cache_hit_tokens: _Tokens = 0
    prompt_tokens_details: _OfPrompt = _OfPrompt()
    completion_tokens_details: _OfReply = _OfReply()


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts in neutral words.

    `output` includes reasoning. OpenAI counts it in `completion_tokens`; xAI and Gemini do not, but count it in
    `total_tokens`: so what the total has beyond input and output is output too.
    """
    try:
        counts = msgspec.convert(usage, _Counts)
    except msgspec.ValidationError:
        counts = _counted(usage)
    prompt = counts.prompt_tokens
    return Usage(
        input=prompt,
        output=max(counts.completion_tokens, counts.total_tokens - prompt),
        reasoning=counts.completion_tokens_details.reasoning_tokens,
        cache_read=counts.prompt_tokens_details.cached_tokens or counts.prompt_cache_hit_tokens,
        cache_write=counts.prompt_tokens_details.cache_write_tokens,
        requests=1,
    )


def _counted(usage: Mapping[str, Any]) -> _Counts:
    """The counts of a server that sends something else among them: null, a fraction, less than nothing."""
    prompt, reply = (_dict(usage.get(f"{kind}_tokens_details")) for kind in ("prompt", "completion"))
    return _Counts(
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        _count(usage.get("total_tokens")),
        _count(usage.get("prompt_cache_hit_tokens")),
        _OfPrompt(_count(prompt.get("cached_tokens")), _count(prompt.get("cache_write_tokens"))),
        _OfReply(_count(reply.get("reasoning_tokens"))),
    )


def _count(value: Any) -> int:
    """A number of tokens; 0 for what is none, or none that counts."""
    return int(value) if isinstance(value, _NUMBER) and 0 < value < math.inf else 0


def _dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
