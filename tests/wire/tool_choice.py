"""What every protocol makes of `tool_choice`, told by asking each adapter's encoder: the tables of `docs/tool_choice.md`.

    python -m tests.wire.tool_choice

prints them; the page is held to it by a test. A cell is found by comparing a request with the same one at `auto`: what stands
in the protocol's own field is *native*; where that field does not say all of it, what else has changed is *emulated*: words
to the model, a grammar, tools or thinking left out. A `ConfigurationError` is *refused*. Nothing is sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from tukang.conversation import Message, Text, ToolCall, ToolResult, assistant, user
from tukang.errors import ConfigurationError
from tukang.models.anthropic_dialect import dialect_for as claude
from tukang.models.anthropic_encode import encode_body
from tukang.models.base import ModelRequest, Settings
from tukang.models.bedrock_converse_encode import encode_request as converse
from tukang.models.bedrock_dialect import dialect_for as bedrock
from tukang.models.bedrock_invoke import BedrockInvoke
from tukang.models.gemini_encode import dialect_for as google
from tukang.models.gemini_encode import encode_request as gemini
from tukang.models.ollama_encode import encode_request as ollama
from tukang.models.openai_chat_dialect import dialect_for as chat_server
from tukang.models.openai_chat_encode import encode_request as chat
from tukang.models.openai_responses_dialect import dialect_for as responses_server
from tukang.models.openai_responses_encode import encode_request as responses
from tukang.tools.contract import Contract

TOOLS = tuple(Contract(name, "", {"type": "object", "properties": {}}) for name in ("harga", "stok"))
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "`auto`": {"tool_choice": "auto"},
    "`required`": {"tool_choice": "required"},
    "a name": {"tool_choice": "harga"},
    "`none`": {"tool_choice": "none"},
    "tools off": {"tools_off": True},
}
CONVERSATION = (
    user("Berapa harganya?"),
    assistant(ToolCall("t-1-0", "harga", "{}")),
    Message("tool", (ToolResult("t-1-0", "harga", (Text("1000"),)),)),
)

Body = dict[str, Any]


class Row(msgspec.Struct, frozen=True):
    """One line of the table.

    Args:
        names: the providers, as a user writes them.
        when: which models or servers, or beside what; empty for all of it.
        encode: the body of a request.
        field: where the protocol says it; the path in the body.
        settings: those of the request.
    """

    names: str
    when: str
    encode: Callable[[ModelRequest], bytes]
    field: tuple[str, ...]
    settings: Settings = Settings(cache=False)


THINKING = Settings(think=True, cache=False)
SONNET, NOVA = "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.amazon.nova-2-lite-v1:0"
MISTRAL, LLAMA = "mistral.mistral-large-3-675b-instruct", "us.meta.llama4-maverick-17b-instruct-v1:0"


def _chat(request: ModelRequest, *, forced: bool = True) -> bytes:
    return chat("x", request, replace(chat_server("api.openai.com", "gpt-5"), forced=forced), stream=True)


def _claude(model: str) -> Callable[[ModelRequest], bytes]:
    return lambda request: encode_body(model, request, dialect=claude(model))


def _converse(model: str) -> Callable[[ModelRequest], bytes]:
    return lambda request: converse(request, bedrock(model))


ROWS = (
    Row("`openai:`, `openrouter:`, `groq:`, `mistral:`, `deepseek:`", "", _chat, ("tool_choice",)),
    Row(
        "the same", "a server that has refused a forced choice", lambda one: _chat(one, forced=False), ("tool_choice",)
    ),
    Row(
        "`responses:`",
        "",
        lambda one: responses("gpt-5", one, responses_server("api.openai.com", "gpt-5"), stream=True),
        ("tool_choice",),
        THINKING,
    ),
    Row("`anthropic:`", "", _claude("claude-sonnet-4-5"), ("tool_choice",)),
    Row("`anthropic:`", "3.7 to 4.5, thinking", _claude("claude-sonnet-4-5"), ("tool_choice",), THINKING),
    Row("`anthropic:`", "from 4.6 on, thinking", _claude("claude-opus-4-6"), ("tool_choice",), THINKING),
    Row("`anthropic:`", "from 5.5 on", _claude("claude-sonnet-5-5"), ("tool_choice",)),
    Row(
        "`bedrock-invoke:`",
        "as `anthropic:`",
        BedrockInvoke(SONNET, region="us-east-1", token="x").encode,
        ("tool_choice",),
    ),
    Row("`bedrock:`", "Claude", _converse(SONNET), ("toolConfig", "toolChoice")),
    Row("`bedrock:`", "Claude 3.7 to 4.5, thinking", _converse(SONNET), ("toolConfig", "toolChoice"), THINKING),
    Row("`bedrock:`", "Nova", _converse(NOVA), ("toolConfig", "toolChoice")),
    Row("`bedrock:`", "Mistral", _converse(MISTRAL), ("toolConfig", "toolChoice")),
    Row("`bedrock:`", "all others", _converse(LLAMA), ("toolConfig", "toolChoice")),
    Row("`ollama:`", "", lambda one: ollama("qwen3", one, stream=True), ("tool_choice",)),
    Row(
        "`gemini:`",
        "",
        lambda one: gemini(one, google("gemini-3-flash-preview")),
        ("toolConfig", "functionCallingConfig"),
        THINKING,
    ),
)


def cell(row: Row, choice: str) -> str:
    """How a row does a choice, in words."""
    try:
        made = _body(row, CHOICES[choice])
    except ConfigurationError:
        return "refused"
    plain = _body(row, CHOICES["`auto`"])
    native = _at(made, row.field)
    ways = list(_ways(plain, made))
    if native is None and not ways:
        return "native: left out, it is the default" if choice == "`auto`" else "native: left out"
    said = [] if native is None else [f"`{json.dumps(native)}`"]
    return f"{'emulated' if ways else 'native'}: {'; '.join((*said, *ways))}"


def _ways(plain: Body, made: Body) -> Iterator[str]:
    """What else is different from the request at `auto`."""
    if _tools(plain) and not _tools(made):
        yield "no tool is listed"
    for name, value in made.items():
        if name == "format" and name not in plain:
            yield f"`format` is a grammar of {'one such call' if 'anyOf' in json.dumps(value) else 'this call'}"
    if '"thinking"' in json.dumps(plain) and '"thinking"' not in json.dumps(made):
        yield "thinking is left out of this request"
    before = set(_words(plain))
    for text in _words(made):
        if text not in before and len(text) < 200:
            yield f"in words: “{text}”"


def _body(row: Row, choice: Mapping[str, Any]) -> Body:
    # Where it thinks, the turn begins: in the middle of calls that came without thinking, some may not begin to.
    messages = CONVERSATION[:1] if row.settings.think else CONVERSATION
    request = ModelRequest("", messages, TOOLS, settings=row.settings, **choice)
    return json.loads(row.encode(request))


def _tools(body: Body) -> Any:
    return body.get("tools") or body.get("toolConfig", {}).get("tools")


def _at(body: Body, path: tuple[str, ...]) -> Any:
    here: Any = body
    for name in path:
        here = here.get(name) if isinstance(here, dict) else None
    return here


def _words(value: Any) -> Iterator[str]:
    """All texts that the model reads, but for the tools."""
    if isinstance(value, dict):
        for name, one in cast("Body", value).items():
            if name in ("text", "content") and isinstance(one, str):
                yield one
            elif name not in ("tools", "toolConfig", "format"):
                yield from _words(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _words(one)


def table() -> str:
    """The whole table, as Markdown."""
    lines = [f"| provider | when | {' | '.join(CHOICES)} |", f"|{'---|' * (len(CHOICES) + 2)}"]
    for row in ROWS:
        cells = [cell(row, choice) for choice in CHOICES]
        lines.append(f"| {row.names} | {row.when} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
