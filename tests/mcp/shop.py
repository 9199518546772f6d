"""An agent to be served, whose tools say what they did; and the official SDK's client at the other end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any

import mcp_types as types
import msgspec
from jsonschema import Draft202012Validator
from mcp.client import Client
from pydantic import BaseModel

from tukang import Agent, CallContext, tool
from tukang.conversation import Image
from tukang.loop.permissions import Principal
from tukang.mcp.server import build
from tukang.mcp.serving import Caller, Service
from tukang.models.scripted import Scripted
from tukang.tools.outcome import NothingDone
from tukang.tools.secret import Secret

PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(20)

BUDI = Caller(Principal("budi", ["gudang:kirim"]))
ERAS = ("legacy", "auto")
"""The SDK's client as it was until 2025-11-25, and as it is from 2026-07-28 on."""


class Stock(BaseModel):
    """What there is."""

    code: str
    left: int


class Shop:
    """Tools that say what they did."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    def tools(self) -> list[Any]:
        return [
            tool(self.stock, effect="read"),
            tool(self.order, effect="write"),
            tool(self.send, effect="write", approval="never", needs="gudang:kirim"),
            tool(self.hold, effect="read"),
            tool(self.steps, effect="read"),
            tool(self.fails, effect="read"),
            tool(self.late, effect="read", timeout=0.05),
            tool(self.picture, effect="read"),
            tool(self.long, effect="read", max_output=100),
            tool(self.lies, effect="read"),
            tool(self.keyed, effect="read"),
        ]

    def stock(self, code: str) -> Stock:
        """How much there is."""
        if code == "none":
            raise NothingDone("there is no such thing", "Try A.")
        return Stock(code=code, left=7)

    def order(self, code: str, amount: int) -> dict[str, Any]:
        """Order something."""
        self.did.append(f"{code} {amount}")
        return {"number": len(self.did)}

    def send(self, code: str, context: CallContext) -> str:
        """Send something."""
        self.did.append(f"{code} {context.idempotency_key}")
        return f"sent, in {context.session}"

    async def hold(self) -> int:
        """Hold on until somebody stops it."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return 1

    async def steps(self, context: CallContext) -> list[int]:
        """Take some steps, and say so."""
        print("this is no message of the protocol")
        for step in range(3):
            context.progress(step * 40, f"step {step}")
            await asyncio.sleep(0)
        return [1, 2, 3]

    def fails(self) -> int:
        """Fail."""
        raise ValueError("the wheel came off")

    async def late(self) -> int:
        """Come too late."""
        await asyncio.sleep(5)
        return 1

    def picture(self) -> Image:
        """Show a picture."""
        return Image("image/png", PIXEL)

    def long(self) -> str:
        """Say much."""
        return "abcdefghij" * 50

    def lies(self) -> Stock:
        """Return something else than it says."""
        return {"nothing": "like it"}  # pyright: ignore[reportReturnType]

    def keyed(self, secret: Annotated[str, Secret("TOKEN")]) -> str:
        """Use a secret."""
        return f"used {secret}"


def agent(shop: Shop, *script: Any, **options: Any) -> Agent:
    return Agent(
        Scripted([*script]),
        tools=shop.tools(),
        name="toko",
        language="id",
        secrets={"TOKEN": "hunter2-hunter2"},
        **options,
    )


class Asks:
    """The client's user: says yes or no, or is not there (None). Keeps what was asked."""

    def __init__(self, answer: str | None = "yes") -> None:
        self.answer = answer
        self.asked: list[str] = []

    @property
    def callback(self) -> Any:
        return None if self.answer is None else self._said

    async def _said(self, context: Any, params: Any) -> types.ElicitResult:  # noqa: ARG002
        self.asked.append(params.message)
        if self.answer == "yes":
            return types.ElicitResult(action="accept", content={"approve": True})
        if self.answer == "unticked":
            return types.ElicitResult(action="accept", content={"approve": False, "reason": "too dear"})
        return types.ElicitResult(action="decline" if self.answer == "no" else "cancel")


@contextlib.asynccontextmanager
async def client(service: Service, era: str, caller: Caller = BUDI, asks: Asks | None = None) -> AsyncGenerator[Client]:
    """The SDK's client, connected in this process."""
    callback = (asks or Asks(None)).callback
    async with Client(build(service, lambda _: caller), mode=era, elicitation_callback=callback) as connected:
        yield connected


def fault(result: types.CallToolResult) -> Mapping[str, Any]:
    """What the model reads of a call that went wrong."""
    assert result.is_error
    content = result.content[0]
    assert isinstance(content, types.TextContent)
    return msgspec.json.decode(content.text)["error"]


def must_fit(tool: types.Tool, result: types.CallToolResult) -> None:
    """Hold a result against what its tool says it returns, with a judge that is not ours."""
    if tool.output_schema is None:
        assert result.structured_content is None
    elif not result.is_error:
        Draft202012Validator.check_schema(tool.output_schema)
        Draft202012Validator(tool.output_schema).validate(result.structured_content)
