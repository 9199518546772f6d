"""What the `openai` SDK's own request types say of a chat completion's body: the judge is theirs, not ours.

The SDK only declares its types; here they are checked, with every field that they do not name refused. What other servers
have added to the protocol is none of the SDK's business, and is left out before, where it is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, cast

import openai.types.chat as declared
import openai.types.shared_params as shared
from openai.types.chat import completion_create_params
from pydantic import ConfigDict, TypeAdapter

ADDED = ("reasoning_details", "reasoning_content", "reasoning", "extra_content")
"""Fields of a message or of a call that other servers have added."""


@functools.cache
def _adapter(stream: bool) -> TypeAdapter[Any]:
    for module in (declared, shared, completion_create_params):
        for one in vars(module).values():
            if isinstance(one, type) and hasattr(one, "__required_keys__"):
                cast(Any, one).__pydantic_config__ = ConfigDict(extra="forbid")
    streaming = completion_create_params.CompletionCreateParamsStreaming
    return TypeAdapter(streaming if stream else completion_create_params.CompletionCreateParamsNonStreaming)


def judge(body: Mapping[str, Any], *, added: bool = False) -> None:
    """Refuse what the SDK's types do not take.

    Args:
        body: the request.
        added: whether the fields that other servers have added may be in it.

    Raises:
        pydantic.ValidationError: says where.
    """
    known = {**body, "messages": [_as_declared(one) for one in body["messages"]]} if added else body
    _walk(_adapter(bool(body.get("stream"))).validate_python(known))


def in_order(messages: list[dict[str, Any]]) -> None:
    """The rules that types cannot say: each call is answered at once, in order; nothing is empty."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [one["id"] for one in message.get("tool_calls", ())]
        assert len(set(waiting)) == len(waiting)
        assert message["content"] or waiting or message["role"] == "user"
    assert not waiting


def _as_declared(message: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in message.items() if key not in ADDED}
    if "tool_calls" in known:
        calls = known["tool_calls"]
        known["tool_calls"] = [{key: value for key, value in call.items() if key not in ADDED} for call in calls]
    return known


def _walk(value: Any) -> None:
    """Look at everything: what is declared as iterable is checked when it is looked at."""
    if isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            _walk(one)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for one in cast("Iterable[Any]", value):
            _walk(one)
