"""What a server returned, as parts: nothing is lost, nothing is said twice."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import CallToolResult, ResourceLink, TextContent

from tukang.conversation import Text
from tukang.mcp.client_result import parts_of
from tukang.tools.foreign import ToolError
from tukang.tools.json_schema import compiled


def result(*texts: str, structured: Any = None, failed: bool = False) -> CallToolResult:
    blocks = [TextContent(text=text) for text in texts]
    return CallToolResult(content=[*blocks], structured_content=structured, is_error=failed)


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        (result("a", "b"), ["a", "b"]),
        (result(), ['{"ok":true}']),
        (result(structured={"n": 1}), ['{"n":1}']),
        (result('{"n": 1}', structured={"n": 1}), ['{"n":1}']),
        (result("one", structured={"n": 1}), ["one", '{"n":1}']),
        (result("teks panjang", structured={"result": "teks panjang"}), ["teks panjang"]),
        (result("teks", structured={"result": "lain"}), ["teks", '{"result":"lain"}']),
        (result(structured=[1, 2]), ["[1,2]"]),
        (result("é", structured={"kota": "Bandung é"}), ["é", '{"kota":"Bandung é"}']),
    ],
)
def test_the_parts_of_a_result(given: CallToolResult, parts: list[str]) -> None:
    assert [part.text for part in parts_of(given) if isinstance(part, Text)] == parts


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (result("no such order", failed=True), "no such order"),
        (result("no such order", structured={"code": 7}, failed=True), "no such order"),
        (result(structured={"code": 7}, failed=True), '{"code":7}'),
        (result(failed=True), "the server gives no reason"),
    ],
)
def test_a_failure_keeps_its_words(given: CallToolResult, said: str) -> None:
    with pytest.raises(ToolError) as told:
        parts_of(given)
    assert str(told.value) == said


@pytest.mark.parametrize(("structured", "kept"), [({"n": 1}, True), ({"n": "1"}, False), (None, False), ({}, False)])
def test_a_promise_that_is_not_kept_is_said(structured: Any, kept: bool) -> None:
    promised = compiled({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, "it")
    first, *_ = parts_of(result("x", structured=structured), promised)
    assert isinstance(first, Text)
    assert ("did not keep" not in first.text) is kept


def test_a_link_says_what_it_leads_to() -> None:
    link = ResourceLink(name="log", uri="file:///log", description="today's")
    (part,) = parts_of(CallToolResult(content=[link]))
    assert isinstance(part, Text)
    assert part.text == '{"resource":{"name":"log","uri":"file:///log","description":"today\'s"}}'
