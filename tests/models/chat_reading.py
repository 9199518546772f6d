"""Reads made-up chat completions the way the adapter does; shared by the tests of decoding."""

from __future__ import annotations

import json
from typing import Any

from tests.servers import delta, event
from tukang.errors import ModelError
from tukang.models.base import Fold, Reply
from tukang.models.openai_chat_decode import ChatDecoder

DONE = event("[DONE]")


def read(*chunks: bytes) -> tuple[Reply, ModelError | None]:
    decoder = ChatDecoder("gpt-test")
    fold = Fold()
    for chunk in chunks:
        for one in decoder.feed(chunk):
            fold.add(one)
    for one in decoder.end():
        fold.add(one)
    assert fold.ended is (decoder.error is None)
    return fold.reply(), decoder.error


def streamed(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> Reply:
    reply, error = read(*[event(delta(**fields)) for fields in deltas], event(delta(finish)), DONE)
    assert error is None
    return reply


def whole(message: dict[str, Any], finish: Any = "stop", **fields: Any) -> Reply:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **fields}
    reply, error = read(json.dumps(body).encode())
    assert error is None
    return reply


def piece(index: Any = None, id: Any = None, name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    """One entry of `tool_calls`, with only what is given in it."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {key: value for key, value in (("index", index), ("id", id)) if value is not None} | {"function": function}


def calls(reply: Reply) -> list[tuple[str, str, str | None]]:
    return [(call.name, call.arguments, call.wire_id) for call in reply.calls]
