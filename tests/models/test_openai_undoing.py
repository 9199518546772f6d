"""What strict mode forced is taken out of a call's arguments, and out of nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from tukang.models.base import ArgumentsDelta, CallBegan, Fold, ModelEvent, ReplyEnded, TextDelta
from tukang.models.openai_undoing import Forced, undoing, undone


def forced(*names: str) -> Forced:
    made = Forced()
    made.names.update(names)
    return made


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ('{"a": null, "b": 1}', '{"b":1}'),
        ('{"a":null}', "{}"),
        ('{"b": 12345678901234567890.10, "a": null, "c": "é\\u00e9"}', '{"b":12345678901234567890.10,"c":"é\\u00e9"}'),
        ('{"b": null, "c": {"a": null}}', '{"b": null, "c": {"a": null}}'),  # neither is one that was forced
        ('{ "b" : 1 }', '{ "b" : 1 }'),
        ('{"a": null', '{"a": null'),
        ("null", "null"),
        ("[null]", "[null]"),
        ("", ""),
        ('"a\ud83d"', '"a\ud83d"'),
    ],
)
def test_only_the_forced_null_goes_and_the_rest_stays_as_it_was_written(written: str, left: str) -> None:
    assert undone(written, forced("a")) == left


def test_a_tree_that_holds_itself_ends() -> None:
    tree = forced("x")
    tree.inside["kid"] = tree
    assert tree
    assert undone('{"x": null, "kid": {"x": null, "kid": {"x": 1}}}', tree) == '{"kid":{"kid":{"x": 1}}}'
    empty = Forced()
    empty.inside["kid"] = empty
    assert not empty


def through(events: Sequence[ModelEvent]) -> list[ModelEvent]:
    async def source() -> AsyncIterator[ModelEvent]:
        for event in events:
            yield event

    async def all_of() -> list[ModelEvent]:
        return [event async for event in undoing(source(), {"harga": forced("a")})]

    return asyncio.run(all_of())


def test_calls_of_other_tools_stream_and_those_are_mended_when_the_reply_ends() -> None:
    events = [
        TextDelta("Sebentar."),
        CallBegan(0, "harga", "c1"),
        ArgumentsDelta(0, '{"a": nu'),
        CallBegan(1, "stok"),
        ArgumentsDelta(1, '{"a": null}'),
        ArgumentsDelta(0, 'll, "b": 2}'),
        CallBegan(2, "harga"),
        ReplyEnded("calls"),
    ]
    seen = through(events)
    assert seen == [
        TextDelta("Sebentar."),
        CallBegan(0, "harga", "c1"),
        CallBegan(1, "stok"),
        ArgumentsDelta(1, '{"a": null}'),
        CallBegan(2, "harga"),
        ArgumentsDelta(0, '{"b":2}'),
        ReplyEnded("calls"),
    ]
    fold = Fold()
    for event in seen:
        fold.add(event)
    assert [(call.name, call.arguments) for call in fold.reply().calls] == [
        ("harga", '{"b":2}'),
        ("stok", '{"a": null}'),
        ("harga", ""),
    ]
