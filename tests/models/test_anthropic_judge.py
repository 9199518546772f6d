"""The vendor's own request types as the judge of what is sent, over random conversations and real tools' schemas.

The types say which fields there are; what they do not say (order, pairing, blank texts, limits) is checked beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import BaseModel, TypeAdapter

from tests.wire.conversations import requests
from tests.wire.test_replay import RECORDED
from tukang.conversation import Citation, Opaque, Part, ServerCall, ServerResult, Thinking, user
from tukang.models.anthropic_dialect import Dialect, dialect_for
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_schemas import OPTIONAL_PARAMETERS, STRICT_TOOLS, UNION_PARAMETERS, weigh
from tukang.models.base import ModelRequest, Settings
from tukang.tools.contract import Contract

pytest.importorskip("anthropic")

TOOLS = RECORDED.parent / "mcp_tools" / "tools.jsonl"
MODELS = [
    "claude-3-7-sonnet-20250219",
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "someone-elses",
]
CITED = {"type": "web_search_result_location", "url": "u", "title": "t", "encrypted_index": "e", "cited_text": "c"}
OWN: st.SearchStrategy[Part] = st.sampled_from(
    [
        Thinking("hm", "c2VhbA==", "anthropic"),
        Thinking("", "ZGF0YQ==", "anthropic", redacted=True),
        ServerCall(
            "srvtoolu_1",
            "web_search",
            "{}",
            "anthropic",
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        ),
        ServerResult(
            "srvtoolu_1", "anthropic", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
        ),
        Citation("t", "u", "c", "anthropic", CITED),
        Opaque("anthropic", {"type": "compaction", "content": "ringkasan"}),
        Opaque("anthropic", {"container": "container_1"}),
    ]
)


@cache
def _judge() -> Any:
    from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming

    return TypeAdapter[Any](MessageCreateParamsNonStreaming)


def materialised(value: Any) -> Any:
    """A judged value as plain data: what is said to be iterable is judged only when it is walked through."""
    if isinstance(value, Mapping):
        return {key: materialised(one) for key, one in cast("Mapping[str, Any]", value).items()}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, BaseModel):  # what the SDK itself has read from a reply may be sent as it is
        return value.model_dump(exclude_unset=True)
    return [materialised(one) for one in value]


def accepted(body: dict[str, Any]) -> None:
    """The SDK's types take the whole body, and know every field in it.

    Two things they do not know: `temperature` and `top_p`, which the newest models refuse and the SDK has dropped, although
    the older ones take them; and what stands in a tool's schema beside type, properties and required.
    """
    known = {key: value for key, value in body.items() if key not in ("temperature", "top_p")}
    known["tools"] = [{**tool, "input_schema": {"type": "object"}} for tool in body.get("tools", ())]
    assert materialised(_judge().validate_python(known)) == known


def in_order(body: dict[str, Any]) -> None:
    """The rules that types cannot say."""
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    assert roles[0] == "user"
    assert all(before != after for before, after in pairwise(roles))
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        blocks = message["content"]
        assert blocks
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert answered == waiting
        assert [block["type"] for block in blocks[: len(waiting)]] == ["tool_result"] * len(waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert not seen.intersection(waiting)
        assert len(set(waiting)) == len(waiting)
        seen.update(waiting)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", one) for one in waiting)
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        if message["role"] == "assistant":
            assert blocks[-1]["type"] not in ("thinking", "redacted_thinking")
    assert not waiting
    assert json.dumps(body).count('"cache_control"') <= 4
    limits(body)


def limits(body: dict[str, Any]) -> None:
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] < body["max_tokens"]
        assert body.get("tool_choice", {}).get("type") not in ("any", "tool")
        last: list[Any] = next(
            (one["content"] for one in reversed(body["messages"]) if one["role"] == "assistant"), list[Any]()
        )
        if any(block["type"] == "tool_use" for block in last):
            assert last[0]["type"] in ("thinking", "redacted_thinking")
    if thinking.get("type") in ("enabled", "adaptive"):
        assert "temperature" not in body


@hypothesis_settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests(OWN), st.sampled_from(MODELS), st.booleans())
def test_whatever_a_conversation_has_been_through_the_vendor_takes_it(
    request: ModelRequest, model: str, thinking_back: bool
) -> None:
    dialect = replace(dialect_for(model), thinking_back=thinking_back)
    before = list(request.messages)
    first = encode_body(model, request, dialect=dialect)
    body = json.loads(first)
    accepted(body)
    in_order(body)
    assert encode_body(model, request, dialect=dialect) == first  # the second time from what was kept
    assert list(request.messages) == before


def test_the_judge_does_judge() -> None:
    good = json.loads(encode_body("claude-opus-4-6", ModelRequest("", (user("?"),)), dialect=Dialect()))
    accepted(good)
    for block in ({"type": "text"}, {"type": "text", "text": "?", "unknown": 1}, {"type": "gambar"}):
        with pytest.raises((ValueError, AssertionError)):
            accepted({**good, "messages": [{"role": "user", "content": [block]}]})


def contracts() -> list[Contract]:
    if not TOOLS.exists():
        pytest.skip(f"the recorded tools are not at hand ({TOOLS})")
    rows = [json.loads(line) for line in TOOLS.read_bytes().splitlines()]
    return [Contract(f"t{place}", row["description"] or "", row["inputSchema"]) for place, row in enumerate(rows)]


@pytest.mark.parametrize("model", ["claude-3-7-sonnet-20250219", "claude-sonnet-4-5"])
def test_every_real_tool_is_sent_in_a_legal_dialect(model: str) -> None:
    from jsonschema_rs import meta

    offered = contracts()
    assert len(offered) == 611
    request = ModelRequest("", (user("?"),), tuple(offered), settings=Settings(cache=False))
    body = json.loads(encode_body(model, request, dialect=dialect_for(model)))
    accepted(body)
    assert [tool["name"] for tool in body["tools"]] == [one.name for one in offered]
    for tool in body["tools"]:
        schema = tool["input_schema"]
        meta.validate({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"})
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & schema.keys()
    strict = [tool["input_schema"] for tool in body["tools"] if tool.get("strict")]
    assert bool(strict) is (model == "claude-sonnet-4-5")
    assert len(strict) <= STRICT_TOOLS
    weights = [weigh(schema) for schema in strict]
    assert sum(one.optional for one in weights) <= OPTIONAL_PARAMETERS
    assert sum(one.unions for one in weights) <= UNION_PARAMETERS


def test_strict_schemas_are_the_ones_the_vendors_own_transformation_leaves_alone() -> None:
    from anthropic import transform_schema

    from tukang.models.anthropic_schemas import strict_schema

    compared = 0
    for contract in contracts():
        schema = strict_schema(contract.parameters)
        if schema is not None and "default" not in json.dumps(schema):
            made = transform_schema(json.loads(json.dumps(schema)))
            assert untyped(made) == untyped(schema)
            compared += 1
    assert compared > 100


def untyped(schema: Any) -> Any:
    """Without what says nothing: the type beside an enumeration, `properties` of an object that has none."""
    if isinstance(schema, dict):
        fields = cast("dict[str, Any]", schema)
        dropped = {"type"} if "enum" in fields or "const" in fields else set[str]()
        return {key: untyped(one) for key, one in fields.items() if key not in dropped and one not in ({}, [])}
    return [untyped(one) for one in cast("list[Any]", schema)] if isinstance(schema, list) else schema
