"""Whatever has happened in a conversation, and however it is cut: every protocol takes what a window sends of it. The judges
are the vendors' own request types."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from google.genai import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.crash.judges import VENDORS
from tests.sizes import examples
from tests.wire.conversations import TOOLS, conversations
from tukang.conversation import Message, Text, ToolCall, ToolResult, user, validity
from tukang.memory.fitting import fitted
from tukang.memory.past import PastTurn, split
from tukang.memory.window import Digest, Seen, Summary, Window, before
from tukang.models.base import ModelRequest

windows = st.builds(
    Window,
    tokens=st.none() | st.integers(200, 4_000),
    turns=st.none() | st.integers(1, 4),
    pinned=st.sampled_from([(), (user("Selalu."),)]),
)


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(api_key="not-a-key", vertexai=False)


def numbered(messages: Sequence[Message], longest: int) -> list[PastTurn]:
    """A conversation as turns, with some of its results made long."""
    turns = [tuple(_long(message, longest) for message in turn) for turn in split(messages)]
    return [PastTurn(f"t{number}", number, 0.0, turn) for number, turn in enumerate(turns, 1)]


def _long(message: Message, longest: int) -> Message:
    parts = [
        ToolResult(part.call_id, part.name, (*part.content, Text("panjang " * longest)), part.fault)
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    ]
    return Message(message.role, tuple(parts))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_window_over_any_conversation_is_taken(data: st.DataObject, client: Client) -> None:
    messages = data.draw(conversations(longest=14))
    turns = numbered(messages, data.draw(st.sampled_from([0, 50, 400])))
    kept = [list(turn.messages) for turn in turns]
    window = data.draw(windows)
    seen = Seen(
        data.draw(st.sampled_from(["en", "id"])), data.draw(st.booleans()), data.draw(st.none() | st.just("cari"))
    )
    pins = [turn for turn in turns if data.draw(st.integers(0, 4)) == 0]
    digest = None
    if turns and data.draw(st.booleans()) and (window.tokens or window.turns):
        upto = data.draw(st.integers(1, len(turns)))
        digest, turns = Digest(upto, "Ringkasan."), turns[upto:]
        window = Window(tokens=window.tokens, turns=window.turns, pinned=window.pinned, summary=Summary(tokens=50))
    history = before(turns, window, pins=pins, digest=digest, seen=seen)
    turn = [user("Lalu?"), *(message for message in data.draw(conversations(longest=5)) if message.role != "user")]
    running = fitted(_renamed(turn), data.draw(st.integers(50, 3_000)), seen)
    request = ModelRequest("", [*history, *running, user("Jawab.")], TOOLS)
    for judge in VENDORS.values():
        judge(request, client)
    if not validity(messages):
        assert validity(history) == []
    assert [list(turn.messages) for turn in turns] == kept[len(kept) - len(turns) :], "what is kept is not changed"


def _renamed(messages: Sequence[Message]) -> list[Message]:
    """Calls of another turn have other ids."""

    def part(one: object) -> object:
        if isinstance(one, ToolCall):
            return replace(one, id=one.id.replace("t1.", "t2."))
        if isinstance(one, ToolResult):
            return replace(one, call_id=one.call_id.replace("t1.", "t2."))
        return one

    return [Message(message.role, tuple(part(one) for one in message.parts)) for message in messages]  # type: ignore[misc]
