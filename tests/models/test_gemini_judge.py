"""Google's own SDK as the judge of what is sent to Gemini: it reads each request into its types, which refuse unknown fields,
and what it would send itself must be what we send.
"""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from google.genai import Client, types
from google.genai import _common as sdk_common
from google.genai import models as sdk
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.sizes import examples
from tests.wire.conversations import LEFT_BEHIND, requests
from tests.wire.recordings import mcp_contracts
from tukang.conversation import user
from tukang.models.base import ModelRequest
from tukang.models.gemini_encode import KEYWORDS, Dialect, dialect_for, encode_request

OLD = dialect_for("gemini-2.5-flash")
NEW = dialect_for("gemini-3-flash-preview")


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(api_key="not-a-key", vertexai=False)


def judge(made: dict[str, Any], client: Client) -> None:
    """Google's SDK takes the request into its types, and would send the same."""
    config = dict(made.get("generationConfig", {}))
    config |= {name: made[name] for name in ("systemInstruction", "tools", "toolConfig") if name in made}
    parameters = types._GenerateContentParameters(  # pyright: ignore[reportPrivateUsage]
        model="gemini-3-flash",
        contents=[types.Content.model_validate(one) for one in made["contents"]],
        config=types.GenerateContentConfig.model_validate(config),
    )
    again: Any = sdk._GenerateContentParameters_to_mldev(client._api_client, parameters)  # pyright: ignore
    again = sdk_common.encode_unserializable_types(sdk_common.convert_to_dict(again))
    if not again["generationConfig"]:
        del again["generationConfig"]
    if "systemInstruction" in again:
        again["systemInstruction"].pop("role", None)
    seen = {name: again[name] for name in again if name not in ("_url", "config")}
    assert plain(seen) == plain(made)


def plain(value: Any) -> Any:
    """JSON with names in one spelling, base64 in one alphabet, and levels in one case: the SDK has its own of each."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name.replace("_", "").lower(): plain(one) for name, one in fields.items()}
    if isinstance(value, list):
        return [plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, str):
        return value.lower().replace("-", "+").replace("_", "/")
    return value


def follows_the_rules(contents: list[dict[str, Any]]) -> None:
    """Roles take turns, a user's first and last; calls are answered at once, one for one, in order, before anything else."""
    roles = [one["role"] for one in contents]
    assert roles == ["user", "model"] * (len(roles) // 2) + ["user"]
    waiting: list[tuple[Any, Any]] = []
    for content in contents:
        assert content["parts"]
        answers = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(one.get("id"), one["name"]) for one in answers] == waiting
        assert all("functionResponse" in part for part in content["parts"][: len(answers)])
        asked = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        waiting = [(one.get("id"), one["name"]) for one in asked]
    assert not waiting


@given(request=requests(LEFT_BEHIND["gemini"]), dialect=st.sampled_from([OLD, NEW]))
@hypothesis_settings(max_examples=examples(80), deadline=None)
def test_any_conversation_becomes_what_the_sdk_would_send(
    client: Client, request: ModelRequest, dialect: Dialect
) -> None:
    """Switches between all providers, crashes, cancels, duplicates: see `tests.wire.conversations`."""
    made = json.loads(encode_request(request, dialect))
    judge(made, client)
    follows_the_rules(made["contents"])


def nodes(schema: Any) -> list[dict[str, Any]]:
    """All schemas in a schema."""
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("prefixItems", ())]
    inside += [schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    return [schema, *(one for part in inside for one in nodes(part))]


def test_every_known_tool_is_sent_in_the_dialect_that_gemini_lists(client: Client) -> None:
    taken = KEYWORDS.kept | {"type", "properties", "required", "items", "enum", "anyOf", "description"}
    made = json.loads(encode_request(ModelRequest("", (user("?"),), tuple(mcp_contracts())), NEW))
    judge(made, client)
    for declared in made["tools"][0]["functionDeclarations"]:
        for node in nodes(declared.get("parametersJsonSchema", {})):
            assert set(node) <= taken, declared["name"]
            assert all(isinstance(one, str | int | float) for one in node.get("enum", ())), declared["name"]
            assert set(node.get("required", ())) <= set(node.get("properties", {})), declared["name"]
        if schema := declared.get("parametersJsonSchema"):
            types.JSONSchema.model_validate({k: v for k, v in schema.items() if k != "additionalProperties"})
