"""What each provider is sent for a declaration, judged by its own SDK's types; and what it cannot do is said beforehand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from google.genai import types as gemini

from tests.hosted.turns import ARN, cek_harga
from tests.models import anthropic_judge, responses_judge
from tukang import Agent, ConfigurationError, Rule, ToolDefinitionError, hosted, user
from tukang.conversation import Message, Opaque, ServerCall, Text
from tukang.models.anthropic import AnthropicMessages
from tukang.models.anthropic_dialect import dialect_for, learn
from tukang.models.anthropic_encode import encode_body
from tukang.models.base import ModelRequest, PartCompleted
from tukang.models.bedrock_responses import bedrock_responses
from tukang.models.gemini import Gemini
from tukang.models.gemini_decode import GeminiDecoder
from tukang.models.gemini_encode import dialect_for as gemini_dialect
from tukang.models.gemini_encode import encode_request as gemini_body
from tukang.models.names import choose
from tukang.models.openai_responses import OpenAIResponses
from tukang.models.openai_responses_dialect import dialect_for as responses_dialect
from tukang.models.openai_responses_encode import encode_request as responses_body
from tukang.models.scripted import Scripted
from tukang.tools.adopting import as_tool
from tukang.tools.hosted import Hosted

NEAR = {"country": "ID", "city": "Bandung", "timezone": "Asia/Jakarta"}
SERVER = hosted.mcp(
    "toko", url="https://toko.id/mcp", tools=["cari"], token="rahasia", description="Toko.", approval="never"
)


def request(*tools: Hosted, functions: bool = False) -> ModelRequest:
    contracts = (as_tool(cek_harga).contract,) if functions else ()
    return ModelRequest("", (user("?"),), tools=contracts, hosted=tools)


def test_openai_takes_every_kind_it_has() -> None:
    tools = (
        hosted.web_search(domains=["contoh.id"], near=NEAR, openai={"search_context_size": "high"}, anthropic={"x": 1}),
        hosted.file_search(["vs_1"], results=3),
        hosted.code(files=["file-1"]),
        hosted.image_generation(openai={"size": "1024x1024"}),
        hosted.mcp("toko", url="https://toko.id/mcp", headers={"x-toko": "1"}),
        hosted.mcp("kalender", connector="connector_googlecalendar", token="rahasia", effect="read"),
    )
    dialect = responses_dialect("api.openai.com", "gpt-5")
    assert not any(OpenAIResponses("gpt-5", api_key="k").cannot_serve(tool) for tool in tools)
    body = msgspec.json.decode(responses_body("gpt-5", request(*tools, functions=True), dialect, stream=True))
    responses_judge.judge(body)
    search, files, code, image, ours, theirs = body["tools"][1:]
    assert search["filters"] == {"allowed_domains": ["contoh.id"]}
    assert (search["search_context_size"], search["user_location"]["country"]) == ("high", "ID")
    assert files == {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 3}
    assert code["container"] == {"type": "auto", "file_ids": ["file-1"]}
    assert image["size"] == "1024x1024"
    assert (ours["require_approval"], theirs["require_approval"]) == ("always", "never")
    assert "x" not in search


@pytest.mark.parametrize(
    ("model", "types"),
    [
        ("claude-sonnet-4-5", ["web_search_20250305", "web_fetch_20250910", "code_execution_20250825", "mcp_toolset"]),
        ("claude-opus-4-8", ["web_search_20260318", "web_fetch_20260318", "code_execution_20260521", "mcp_toolset"]),
    ],
)
def test_anthropic_takes_the_versions_that_the_model_has(model: str, types: list[str]) -> None:
    search = hosted.web_search(blocked=["iklan.id"], near=NEAR, most=2)
    tools = (
        search,
        hosted.web_fetch(domains=["contoh.id"], anthropic={"citations": {"enabled": True}}),
        hosted.code(),
        SERVER,
    )
    assert not any(AnthropicMessages(model, api_key="k").cannot_serve(tool) for tool in tools)
    body = msgspec.json.decode(encode_body(model, request(*tools, functions=True)))
    anthropic_judge.accepted(body)
    assert [tool.get("type") for tool in body["tools"][1:]] == types
    assert body["tools"][1]["max_uses"] == 2
    assert body["mcp_servers"][0]["authorization_token"] == "rahasia"


def test_a_version_that_is_refused_is_not_asked_for_again() -> None:
    dialect = dialect_for("claude-opus-4-8")
    learned = learn(
        dialect, "tools.0: Input tag 'web_search_20260318' found using 'type' does not match any of the expected tags"
    )
    body = msgspec.json.decode(encode_body("claude-opus-4-8", request(hosted.web_search()), dialect=learned))
    assert body["tools"][0]["type"] == "web_search_20250305"


def test_gemini_takes_what_it_has_beside_functions_from_version_3_on() -> None:
    tools = (hosted.web_search(), hosted.web_fetch(), hosted.code(), hosted.file_search(["stores/a"], results=2))
    assert not any(Gemini("gemini-3-pro", api_key="k").cannot_serve(tool) for tool in tools)
    body = msgspec.json.decode(gemini_body(request(*tools, functions=True), gemini_dialect("gemini-3-pro")))
    judged = [gemini.Tool.model_validate(tool) for tool in body["tools"]]
    assert judged[1].google_search is not None
    assert judged[4].file_search is not None
    assert judged[4].file_search.top_k == 2
    config = gemini.ToolConfig.model_validate(body["toolConfig"])
    assert config.include_server_side_tool_invocations is True
    with pytest.raises(ConfigurationError, match=r"before version 3 takes hosted\.web_search"):
        gemini_body(request(*tools, functions=True), gemini_dialect("gemini-2.5-flash"))
    assert b"googleSearch" in gemini_body(request(*tools), gemini_dialect("gemini-2.5-flash"))


def test_what_gemini_looked_up_is_a_step_also_where_it_stands_in_the_metadata_only() -> None:
    page = {"web": {"uri": "https://a.id", "title": "A"}}
    candidate = {
        "content": {"parts": [{"text": "ya"}]},
        "finishReason": "STOP",
        "groundingMetadata": {"webSearchQueries": ["harga"], "groundingChunks": [page]},
        "urlContextMetadata": {
            "urlMetadata": [{"retrievedUrl": "https://b.id", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}]
        },
    }
    decoder = GeminiDecoder()
    events = [*decoder.feed(msgspec.json.encode({"candidates": [candidate]})), *decoder.end()]
    calls = [one.part for one in events if isinstance(one, PartCompleted) and isinstance(one.part, ServerCall)]
    assert [(call.tool, call.arguments, call.result, call.fault) for call in calls] == [
        ("web_search", '{"queries":["harga"]}', "A — https://a.id", False),
        ("web_fetch", '{"url":"https://b.id"}', "URL_RETRIEVAL_STATUS_ERROR", True),
    ]
    said = Message("assistant", (Text("ya"), *calls))
    body = msgspec.json.decode(
        gemini_body(ModelRequest("", (user("?"), said, user("!"))), gemini_dialect("gemini-3-pro"))
    )
    assert body["contents"][1]["parts"] == [{"text": "ya"}]  # there is nothing of it that could go back


def test_a_question_that_was_not_heard_is_not_asked_again() -> None:
    item = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "a", "arguments": "{}", "server_label": "z"}
    said = Message("assistant", (Text("ya"), Opaque("responses", item)))
    dialect = responses_dialect("api.openai.com", "gpt-5")
    body = responses_body("gpt-5", ModelRequest("", (user("?"), said, user("!"))), dialect, stream=False)
    assert b"mcpr_1" not in body


# ── what cannot be done is said when the agent is built ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "tool", "why"),
    [
        ("openai:gpt-4o", hosted.web_search(), "not over this protocol"),
        ("bedrock-invoke:anthropic.claude-sonnet-4-5-20250929-v1:0", hosted.code(), "not over this protocol"),
        ("ollama:qwen3", hosted.code(), "not over this protocol"),
        ("responses:gpt-5", hosted.web_fetch(), "it has no such tool"),
        ("responses:gpt-5", hosted.web_search(blocked=["a.id"]), "say domains instead of blocked"),
        ("responses:gpt-5", hosted.web_search(most=3), "max_tool_calls"),
        ("responses:gpt-5", hosted.aws("toko", ARN), "it has no such tool"),
        ("anthropic:claude-sonnet-4-5", hosted.mcp("z", url="https://z.id/mcp"), "without asking"),
        (
            "anthropic:claude-sonnet-4-5",
            hosted.mcp("z", url="http://z.id/mcp", effect="read"),
            "https:// addresses only",
        ),
        ("anthropic:claude-sonnet-4-5", hosted.mcp("z", connector="connector_gmail", effect="read"), "addresses only"),
        ("anthropic:claude-sonnet-4-5", hosted.image_generation(), "it has no such tool"),
        ("anthropic:claude-sonnet-4-5", hosted.code(files=["f"]), "leave files out"),
        ("gemini:gemini-3-pro", hosted.web_search(near=NEAR), "has no options"),
        ("gemini:gemini-3-pro", SERVER, "it has no such tool"),
    ],
)
def test_a_model_that_cannot_run_it_is_refused(
    model: str, tool: Hosted, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.setenv(name, "not-a-key")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with pytest.raises(ConfigurationError, match=why):
        Agent(model, tools=[tool])
    with pytest.raises(ConfigurationError, match=why):
        Agent([Scripted(["ya"]), model], tools=[tool])  # a fallback that would leave it out


def test_what_bedrock_runs_depends_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "not-a-key")
    small, large = (bedrock_responses(f"openai.{name}", region="us-east-1") for name in ("gpt-oss-120b", "gpt-5.5"))
    assert small.cannot_serve(hosted.aws("toko", ARN)) is None
    assert "no such tool" in (small.cannot_serve(hosted.web_search()) or "")
    assert large.cannot_serve(hosted.web_search()) is None
    assert "bedrock-mantle.us-east-1.api.aws/v1" in repr(small)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert choose("bedrock-responses:openai.gpt-oss-120b").model.name == "bedrock-responses:openai.gpt-oss-120b"
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK")
    with pytest.raises(ConfigurationError, match="set AWS_BEARER_TOKEN_BEDROCK"):
        bedrock_responses("openai.gpt-oss-120b", region="us-east-1")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: hosted.web_search(domains=["a.id"], blocked=["b.id"]), "not both"),
        (lambda: hosted.web_search(domains="a.id"), "several texts"),
        (lambda: hosted.web_search(near={"planet": "Mars"}), "near takes"),
        (lambda: hosted.web_search(most=0), "above 0"),
        (lambda: hosted.web_search(**{"azure": {}}), "there is no azure"),  # pyright: ignore
        (lambda: hosted.file_search([]), "at least one store"),
        (lambda: hosted.mcp("z"), "say url, or connector"),
        (lambda: hosted.mcp("z", url="z.id"), "must look like https"),
        (lambda: hosted.mcp("ada spasi", url="https://z.id"), "a name has letters"),
        (lambda: hosted.mcp("z", url="https://z.id", effect="sometimes"), "effect must be"),  # pyright: ignore
        (lambda: hosted.aws("z", "arn:aws:s3:::bucket"), "neither a Lambda function"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(made: Any, why: str) -> None:
    with pytest.raises(ToolDefinitionError, match=why):
        made()


def test_names_are_unique_and_rules_say_what_can_be_kept() -> None:
    def web_search(query: str) -> str:
        """Cari."""
        return query

    with pytest.raises(ToolDefinitionError, match="two tools have the name 'web_search'"):
        Agent(Scripted(["ya"]), tools=[web_search, hosted.web_search()])
    with pytest.raises(ConfigurationError, match="without asking: put Rule"):
        Agent(Scripted(["ya"]), tools=[hosted.web_search()], rules=[Rule("ask")])
    Agent(Scripted(["ya"]), tools=[hosted.web_search()], rules=[Rule("allow", tool="web_search"), Rule("ask")])


def test_a_token_stands_in_requests_and_nowhere_else() -> None:
    tool = hosted.mcp("z", url="https://z.id", token="rahasia", headers={"x": "rahasia"})
    assert "rahasia" not in repr(tool)
    assert "rahasia" not in repr(tool.shown)
    model = Scripted(["ya"])
    answer = Agent(model, tools=[tool]).run("?")
    assert model.requests[0].hosted == (tool,)
    assert "rahasia" not in repr(answer.events)
