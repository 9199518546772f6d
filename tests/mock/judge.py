"""What a judge is: a vendor's SDK as a client, and what it hears. The judges themselves are in `judges.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from tukang.mock.values import Asked
from tukang.models.scripted import Says

CEK = {
    "name": "cek_harga",
    "description": "Cek harga.",
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
}
"""The tool that is offered, in neutral form."""


class Heard(msgspec.Struct):
    """What a client made of a reply. `deltas` are the texts as they came; in a whole reply there is one."""

    thinking: str = ""
    deltas: list[str] = []
    calls: list[tuple[str, str, Any]] = []  # id, name, arguments
    finish: str = ""
    usage: tuple[int, int] = (0, 0)

    @property
    def text(self) -> str:
        return "".join(self.deltas)


class Failure(msgspec.Struct, frozen=True):
    """How a request failed, as the SDK tells it."""

    status: int | None
    message: str
    retry_after: str | None = None


class Stage:
    """What the server says next: set by a test, taken by the server."""

    def __init__(self) -> None:
        self.replies: list[Says] = []
        self.asked: list[Asked] = []

    def says(self, *replies: Says) -> None:
        self.replies, self.asked = list(replies), []

    def next(self, asked: Asked) -> Says:
        self.asked.append(asked)
        return self.replies.pop(0)


class Judge:
    """One SDK. `history` is the conversation in its form; a test may spoil it."""

    name = ""
    finishes: ClassVar[dict[str, str]] = {}
    seals = True
    pairs = True

    def __init__(self, url: str) -> None:
        self.url = url
        self.history: list[Any] = []
        self.tools: list[dict[str, Any]] = []

    def begin(self, text: str, *tools: dict[str, Any]) -> Judge:
        self.history, self.tools = [self.user(text)], list(tools)
        return self

    def user(self, text: str) -> Any:
        raise NotImplementedError

    def ask(self, stream: bool) -> Heard:
        """Send the conversation, and add the reply to it."""
        raise NotImplementedError

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        """Add the results of these calls."""
        raise NotImplementedError

    def spoil_thinking(self) -> None:
        """Change the thinking that was heard last."""
        raise NotImplementedError

    def failure(self, error: Exception) -> Failure | None:
        """What the SDK's error says; None when it is no answer of the server's."""
        raise NotImplementedError


class EarlyEnd(Exception):
    """The stream ended without its end, which this SDK does not notice itself."""
