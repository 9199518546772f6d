"""The vendor's own request types as the judge of what is sent, over random conversations and real tools' schemas."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.models.anthropic_judge import accepted, in_order
from tests.sizes import examples
from tests.wire.conversations import LEFT_BEHIND, requests
from tests.wire.recordings import mcp_contracts
from tukang.conversation import user
from tukang.models.anthropic_dialect import Dialect, dialect_for
from tukang.models.anthropic_encode import encode_body
from tukang.models.anthropic_schemas import OPTIONAL_PARAMETERS, STRICT_TOOLS, UNION_PARAMETERS, weigh
from tukang.models.base import ModelRequest, Settings

pytest.importorskip("anthropic")

MODELS = [
    "claude-3-7-sonnet-20250219",
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "someone-elses",
]


@hypothesis_settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(requests(LEFT_BEHIND["anthropic"]), st.sampled_from(MODELS), st.booleans())
def test_whatever_a_conversation_has_been_through_the_vendor_takes_it(
    request: ModelRequest, model: str, thinking_back: bool
) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
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


@pytest.mark.parametrize("model", ["claude-3-7-sonnet-20250219", "claude-sonnet-4-5"])
def test_every_real_tool_is_sent_in_a_legal_dialect(model: str) -> None:
    from jsonschema_rs import meta

    offered = mcp_contracts()
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
    for contract in mcp_contracts():
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
