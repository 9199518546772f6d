"""Calls a tool as a turn would, without a turn: what its model would read."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import Any

import pytest

from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import Outcome
from tukang.tools.tool import Tool

needs_bwrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)"
)
SECRET = "sk-live-rahasia-9f2c"


async def outcome(tool: Tool, call: str = "t-1-0", session: str | None = "s", **arguments: Any) -> Outcome:
    """What becomes of one call."""
    return await execute(tool, json.dumps(arguments), CallContext(call_id=call, idempotency_key=call, session=session))


def said(tool: Tool, **arguments: Any) -> str:
    """The words of its result; a fault is data like any other."""
    return asyncio.run(outcome(tool, **arguments)).text


def refused(tool: Tool, **arguments: Any) -> str:
    """The message of a call that was refused, and did nothing."""
    fault = asyncio.run(outcome(tool, **arguments)).fault
    assert fault is not None
    assert fault.kind in ("nothing_done", "invalid_arguments"), fault
    return fault.message
