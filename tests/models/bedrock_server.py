"""A Bedrock for tests: the scripted server, which also keeps the address as it came over the wire; and frames to send."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

from aiohttp import web

from tests.servers import ChatServer, Raw, Say

FRAMES = {"Content-Type": "application/vnd.amazon.eventstream"}


class BedrockServer(ChatServer):
    """As `ChatServer`; `raw_paths` are the addresses before anybody decoded them."""

    def __init__(self, script: Sequence[Say | Raw]) -> None:
        super().__init__(script)
        self.raw_paths: list[str] = []

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.raw_paths.append(request.raw_path)
        return await super()._answer(request)


def frame(kind: str, payload: Any, message: str = "event") -> bytes:
    """One message of an event stream (https://smithy.io/2.0/aws/amazon-eventstream.html)."""
    names = {"event": ":event-type", "exception": ":exception-type", "error": ":error-code"}
    headers = _header(":message-type", message) + _header(names[message], kind)
    headers += _header(":content-type", "application/json")
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    prelude += struct.pack(">I", zlib.crc32(prelude))
    whole = prelude + headers + body
    return whole + struct.pack(">I", zlib.crc32(whole))


def _header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()


def delta(index: int = 0, **fields: Any) -> bytes:
    """A frame with more of a content block."""
    return frame("contentBlockDelta", {"contentBlockIndex": index, "delta": fields, "p": "abc"})


def start(index: int, **fields: Any) -> bytes:
    """A frame that begins a content block."""
    return frame("contentBlockStart", {"contentBlockIndex": index, "start": fields})


def stop(index: int = 0) -> bytes:
    """A frame that ends a content block."""
    return frame("contentBlockStop", {"contentBlockIndex": index})


def end(reason: str = "end_turn", usage: tuple[int, int] = (10, 5)) -> bytes:
    """The frames that end a reply: the reason and the counts."""
    counts = {"inputTokens": usage[0], "outputTokens": usage[1], "totalTokens": sum(usage)}
    return frame("messageStop", {"stopReason": reason}) + frame(
        "metadata", {"usage": counts, "metrics": {"latencyMs": 1}}
    )
