"""What the `anthropic` SDK's own request types say of a body of the Messages API: the judge is theirs, not ours.

The types say which fields there are; what they do not say (order, pairing, blank texts, limits) is checked beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter


@cache
def _judge() -> Any:
    from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming

    return TypeAdapter[Any](MessageCreateParamsNonStreaming)


def materialised(value: Any) -> Any:
    """A judged value as plain data: what is said to be iterable is judged only when it is walked through."""
    if isinstance(value, Mapping):
        return {key: materialised(one) for key, one in cast("Mapping[str, Any]", value).items()}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, BaseModel):  # what the SDK itself has read from a reply may be sent as it is
        return value.model_dump(exclude_unset=True)
    return [materialised(one) for one in value]


def accepted(body: dict[str, Any]) -> None:
    """The SDK's types take the whole body, and know every field in it.

    Two things they do not know: `temperature` and `top_p`, which the newest models refuse and the SDK has dropped, although
    the older ones take them; and what stands in a tool's schema beside type, properties and required.
    """
    known = {key: value for key, value in body.items() if key not in ("temperature", "top_p")}
    tools = body.get("tools", ())
    known["tools"] = [tool | ({"input_schema": {"type": "object"}} if "input_schema" in tool else {}) for tool in tools]
    assert materialised(_judge().validate_python(known)) == known


def in_order(body: dict[str, Any]) -> None:
    """The rules that types cannot say."""
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles[0] == "user"
    assert all(before != after for before, after in pairwise(roles))
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        blocks = message["content"]
        assert blocks
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert answered == waiting
        assert [block["type"] for block in blocks[: len(waiting)]] == ["tool_result"] * len(waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert not seen.intersection(waiting)
        assert len(set(waiting)) == len(waiting)
        seen.update(waiting)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", one) for one in waiting)
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        if message["role"] == "assistant":
            assert blocks[-1]["type"] not in ("thinking", "redacted_thinking")
    assert not waiting
    assert json.dumps(body).count('"cache_control"') <= 4
    limits(body)


def limits(body: dict[str, Any]) -> None:
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] < body["max_tokens"]
        assert body.get("tool_choice", {}).get("type") not in ("any", "tool")
        last: list[Any] = next(
            (one["content"] for one in reversed(body["messages"]) if one["role"] == "assistant"), list[Any]()
        )
        if any(block["type"] == "tool_use" for block in last):
            assert last[0]["type"] in ("thinking", "redacted_thinking")
    if thinking.get("type") in ("enabled", "adaptive"):
        assert "temperature" not in body
