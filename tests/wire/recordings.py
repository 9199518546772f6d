"""Recorded traffic of real providers: where it is, whose protocol a file is of, and its lines.

It is kept beside the checkout and never in it; tests that need it skip where it is not at hand. This file reads files; it
knows no protocol.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tukang.tools.contract import Contract

DATA = Path(os.environ.get("TUKANG_SHARED", Path(__file__).parents[3] / "shared")) / "data"
WIRE = DATA / "wire"
LOOPS = WIRE / "loops"
MCP_TOOLS = DATA / "mcp_tools" / "tools.jsonl"


class Unusable(Exception):
    """The file cannot be used."""


def at_hand(path: Path) -> Path:
    """The same path; the test that asks is skipped where nothing is there."""
    if not path.exists():
        pytest.skip(f"the recorded material is not at hand ({path})")
    return path


def protocol_of(path: Path, known: Iterable[str]) -> str:
    """The protocol that a file's name begins with, alone or with more words after it.

    Raises:
        Unusable: it is none of those known.
    """
    names = list(known)
    fitting = [name for name in names if path.name.startswith(name) and not path.name[len(name) :][:1].isalnum()]
    if not fitting:
        raise Unusable(f"{path}: there is no adapter for this protocol; known are {', '.join(names)}")
    return max(fitting, key=len)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines.

    Raises:
        Unusable: there is no such file, or a line is not JSON.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield msgspec.json.decode(line, type=dict[str, Any])
                    except msgspec.DecodeError as fault:
                        raise Unusable(f"{path}, line {number}: {fault}") from fault
    except OSError as fault:
        raise Unusable(f"{path}: {fault.strerror}") from fault


def mcp_contracts() -> list[Contract]:
    """All 611 tools of real MCP servers, under names of our own: theirs are not all different."""
    rows = list(lines(at_hand(MCP_TOOLS)))
    assert len(rows) == 611
    return [
        Contract(f"alat_{place}", row.get("description") or "", {"type": "object", **row["inputSchema"]})
        for place, row in enumerate(rows)
    ]


def body_of(response: Mapping[str, Any]) -> bytes:
    """The bytes of a recorded response: `body`, as text or as JSON, or `body_b64`."""
    if response.get("body_b64") is not None:
        return base64.b64decode(response["body_b64"])
    body = response.get("body") or ""
    return body.encode() if isinstance(body, str) else msgspec.json.encode(body)
