"""How events are written, and that those of older versions can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tukang.conversation import Image, Message, Opaque, Text, Thinking, ToolCall, user
from tukang.loop import events
from tukang.loop.evolve import evolve
from tukang.loop.state import State
from tukang.memory.stores import encoding
from tukang.memory.stores.encoding import EventRow, event_of, messages_of, row_of, text_of
from tukang.memory.stores.errors import StoreError

_JOURNAL = Path(__file__).with_name("journal_v1.jsonl")


_SENT_BACK = Path(__file__).with_name("journal_v1_sent_back.jsonl")
"""Of a turn whose answer went back."""


def _rows(journal: Path = _JOURNAL) -> list[EventRow]:
    rows: list[EventRow] = []
    for line in journal.read_text(encoding="utf-8").splitlines():
        kind = msgspec.json.decode(line)["type"]
        rows.append(EventRow(1, kind, line))
    return rows


def test_the_journal_of_version_1_is_read() -> None:
    """The file was written by version 1 and is never edited."""
    state: State | None = None
    for row in _rows():
        state = evolve(state, event_of(row))
    assert state is not None
    assert state.finished
    assert state.text == "SSD PRD002 harganya Rp 1.200.000. Pesanan ORD-1 dibuat."
    assert [message.role for message in state.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [call.id for call in state.done] == ["v1turn-1-0", "v1turn-1-1", "v1turn-2-0"]
    assert state.messages[0].parts[1] == Image("image/png", b"\x89PNG")


def test_the_journal_of_an_answer_that_went_back_is_read() -> None:
    state: State | None = None
    for row in _rows(_SENT_BACK):
        state = evolve(state, event_of(row))
    assert state is not None
    assert (state.text, state.unsupported, state.corrected) == ("Harganya Rp 1,2 juta.", (), True)


def test_the_journal_of_version_1_holds_every_kind_of_event() -> None:
    kinds = {kind.__name__ for kind in get_args(events.Event)}
    assert {row.kind for row in [*_rows(), *_rows(_SENT_BACK)]} == kinds, (
        "a new kind of event needs a line in a journal of its version"
    )


def test_what_is_written_is_read_as_it_was() -> None:
    for row in [*_rows(), *_rows(_SENT_BACK)]:
        event = event_of(row)
        again = row_of(event)
        assert (again.version, again.kind) == (encoding.VERSION, row.kind)
        assert event_of(again) == event


def test_an_older_event_is_brought_up_one_version_at_a_time() -> None:
    """As if version 2 had renamed `attempt` to `try`, and version 3 the kind itself."""

    def to_2(event: dict[str, Any]) -> dict[str, Any]:
        return {"type": "Asked2", "at": event["when"], "attempt": event["number"]}

    def to_3(event: dict[str, Any]) -> dict[str, Any]:
        return {**event, "type": "ModelAsked", "attempt": event["attempt"] + 1}

    upcasts = {("Asked", 1): to_2, ("Asked2", 2): to_3}
    old = EventRow(1, "Asked", '{"type":"Asked","when":5.0,"number":1}')
    assert event_of(old, 3, upcasts) == events.ModelAsked(at=5.0, attempt=2)
    between = EventRow(2, "Asked2", '{"type":"Asked2","at":5.0,"attempt":1}')
    assert event_of(between, 3, upcasts) == events.ModelAsked(at=5.0, attempt=2)
    untouched = EventRow(1, "TimeExpired", '{"type":"TimeExpired","at":1.0}')
    assert event_of(untouched, 3, upcasts) == events.TimeExpired(at=1.0)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (EventRow(encoding.VERSION + 1, "ModelAsked", '{"type":"ModelAsked","at":1.0,"attempt":1}'), "too_new"),
        (EventRow(1, "ModelAsked", '{"type":"ModelAsked","at":1.0}'), "corrupt"),
        (EventRow(1, "ModelAsked", '{"type":"ModelAs'), "corrupt"),
        (EventRow(1, "Nonsense", '{"type":"Nonsense","at":1.0}'), "corrupt"),
    ],
)
def test_what_is_no_event_says_so(row: EventRow, kind: str) -> None:
    with pytest.raises(StoreError) as failed:
        event_of(row)
    assert failed.value.kind == kind
    assert row.kind in str(failed.value)


def test_a_field_that_a_later_version_added_is_ignored() -> None:
    row = EventRow(1, "TimeExpired", '{"type":"TimeExpired","at":1.0,"mood":"calm"}')
    assert event_of(row) == events.TimeExpired(at=1.0)


def test_every_text_can_be_written() -> None:
    """Also what no UTF-8 can hold."""
    odd = "a\0b\ud800c\u2028😀"
    message = Message("assistant", (Text(odd), Opaque("x", {odd: [odd, 1.5, None]}), ToolCall("i", "n", odd)))
    (read,) = messages_of(text_of((message,)))
    assert read.text == "a\0b�c\u2028😀"
    assert read.parts[1] == Opaque("x", {read.text: [read.text, 1.5, None]})
    thinking = Thinking("x", signature="s", provider="anthropic")
    assert messages_of(text_of((user(thinking, Image("image/png", b"\xff")),)))[0].parts[1] == Image(
        "image/png", b"\xff"
    )
    assert messages_of(None) == ()
    with pytest.raises(StoreError):
        messages_of('{"no": "messages"}')
