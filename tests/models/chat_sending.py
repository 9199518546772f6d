"""What the adapter would send, read back; shared by the tests of encoding."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tukang.conversation import (
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
)
from tukang.models.base import ModelRequest
from tukang.models.openai_chat_dialect import Dialect
from tukang.models.openai_chat_encode import encode_request
from tukang.tools.contract import Contract

PRICE = Contract("harga", "Harga sebuah produk.", {"type": "object", "properties": {"id": {"type": "string"}}})
STOCK = Contract("stok", "Stok sebuah produk.", {"type": "object", "properties": {}})


def body(
    messages: Sequence[Message] = (), dialect: Dialect | None = None, stream: bool = False, **asked: Any
) -> dict[str, Any]:
    request = ModelRequest(asked.pop("instructions", ""), tuple(messages), **asked)
    return json.loads(encode_request("gpt-test", request, dialect or Dialect(), stream))


def sent(messages: Sequence[Message], dialect: Dialect | None = None, **asked: Any) -> list[dict[str, Any]]:
    return body(messages, dialect, **asked)["messages"]


def call(id: str, arguments: str = "{}", name: str = "harga", wire_id: str | None = None) -> ToolCall:
    return ToolCall(id, name, arguments, wire_id)


def results(*given: tuple[str, str | Part]) -> Message:
    parts = [ToolResult(id, "harga", (Text(one) if isinstance(one, str) else one,)) for id, one in given]  # type: ignore[arg-type]
    return Message("tool", tuple(parts))
