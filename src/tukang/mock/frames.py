"""How events stand in a stream: server-sent events, lines of JSON, and Amazon's event-stream frames. Bytes only.

Amazon's frame (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html and
https://smithy.io/2.0/aws/amazon-eventstream.html): total length, length of the headers, CRC-32 of these eight bytes, headers,
payload, CRC-32 of all before it; numbers are big-endian. It is written here because botocore can only read it.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import msgspec

from tukang.mock.values import Frame

_STRING_HEADER = 7


def sse(data: Any, event: str | None = None, *, delta: bool = False) -> Frame:
    """One server-sent event."""
    name = f"event: {event}\n".encode() if event else b""
    return Frame(name + b"data: " + msgspec.json.encode(data) + b"\n\n", delta)


def line(data: Any, *, delta: bool = False) -> Frame:
    """One line of JSON."""
    return Frame(msgspec.json.encode(data) + b"\n", delta)


def aws_event(name: str, data: Any, *, delta: bool = False) -> Frame:
    """One event in a frame of Amazon's."""
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return Frame(_aws_frame(headers, msgspec.json.encode(data)), delta)


def aws_exception(name: str, data: Any) -> Frame:
    """An exception that the service's model knows, in a frame of Amazon's."""
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return Frame(_aws_frame(headers, msgspec.json.encode(data)))


def _aws_frame(headers: dict[str, str], payload: bytes) -> bytes:
    head = b"".join(_aws_header(name, value) for name, value in headers.items())
    lengths = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    body = lengths + struct.pack("!I", zlib.crc32(lengths)) + head + payload
    return body + struct.pack("!I", zlib.crc32(body))


def _aws_header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + struct.pack("!BH", _STRING_HEADER, len(text)) + text
