"""The calls that a provider ran itself: as a recorded body shows them, and as the loop takes them for steps.

What a body shows is read here with no part of the house: from the blocks and items as the protocols' pages describe them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tukang.conversation import Part, user
from tukang.loop.events import TurnStarted
from tukang.loop.evolve import evolve
from tukang.loop.limits import Limits
from tukang.loop.served import noted
from tukang.models.base import Fold, ModelEvent

_NAMES: dict[str, str] = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code",
    "image_generation_call": "image_generation",
    "bash_code_execution": "code",
    "text_editor_code_execution": "code",
    "code_execution": "code",
    "nova_code_interpreter": "code",
}


class Ran(msgspec.Struct, frozen=True):
    """One call.

    Args:
        tool: as a step calls it.
        arguments: as a JSON value; None where a protocol has no one place for them.
        answered: whether a result came with it, or after it.
        failed: whether the provider says that it failed.
    """

    tool: str
    arguments: Any
    answered: bool
    failed: bool


def taken(events: Iterable[ModelEvent], *, arguments: bool) -> tuple[Ran, ...]:
    """What the loop makes of an adapter's events."""
    fold = Fold()
    for event in events:
        fold.add(event)
    parts: Sequence[Part] = fold.reply().parts
    started = TurnStarted(at=0.0, turn="t", trigger=user("?"), limits=Limits(), policies={}, contracts={})
    served = noted(evolve(None, started), parts, 1).get("served", ())
    return tuple(
        Ran(one.tool, json.loads(one.arguments or "{}") if arguments else None, one.result is not None, one.fault)
        for one in served
    )


def in_anthropic(body: str) -> tuple[Ran, ...]:
    """From a message of Anthropic's, whole or streamed."""
    blocks = _blocks(body)
    results = {block["tool_use_id"]: block for block in blocks if "tool_use_id" in block}
    found: list[Ran] = []
    for block in blocks:
        if block.get("type") not in ("server_tool_use", "mcp_tool_use"):
            continue
        name = _NAMES.get(str(block["name"]), str(block["name"]))
        if block["type"] == "mcp_tool_use":
            name = f"{block['server_name']}.{block['name']}"
        result = results.get(block["id"])
        content = (result or {}).get("content")
        failed = bool((result or {}).get("is_error")) or (isinstance(content, dict) and "error_code" in content)
        found.append(Ran(name, block.get("input") or {}, result is not None, failed))
    return tuple(found)


def _blocks(body: str) -> list[dict[str, Any]]:
    if body.lstrip().startswith("{"):
        return json.loads(body).get("content") or []
    blocks: list[dict[str, Any]] = []
    event: dict[str, Any]
    open_ones: dict[int, dict[str, Any]] = {}
    for line in body.splitlines():
        event = json.loads(line[5:]) if line.startswith("data:") and line[5:].strip().startswith("{") else {}
        if event.get("type") == "content_block_start":
            open_ones[event["index"]] = {**event["content_block"], "text_of_input": ""}
            blocks.append(open_ones[event["index"]])
        elif event.get("type") == "content_block_delta" and event["delta"]["type"] == "input_json_delta":
            open_ones[event["index"]]["text_of_input"] += event["delta"]["partial_json"]
    for block in blocks:
        if block["type"] in ("server_tool_use", "mcp_tool_use") and block["text_of_input"]:
            block["input"] = json.loads(block["text_of_input"])
    return blocks


def in_responses(body: str) -> tuple[Ran, ...]:
    """From a response of OpenAI's, whole or streamed."""
    items = _items(body)
    outputs = {item.get("call_id") for item in items if str(item.get("type")).endswith("_output")}
    found: list[Ran] = []
    for item in items:
        kind = str(item.get("type"))
        if kind in ("function_call", "custom_tool_call") or not (kind.endswith("_call") or kind == "program"):
            continue
        name = _NAMES.get(kind) or str(item.get("name") or kind)
        if kind == "mcp_call":
            name = f"{item['server_label']}.{item['name']}"
        answered = kind in _NAMES or kind == "mcp_call" or (item.get("call_id") or item.get("id")) in outputs
        failed = item.get("status") in ("failed", "incomplete") or bool(item.get("error"))
        found.append(Ran(name, None, answered, failed))
    return tuple(found)


def _items(body: str) -> list[dict[str, Any]]:
    if body.lstrip().startswith("{"):
        return json.loads(body).get("output") or []
    events = [
        json.loads(line[5:])
        for line in body.splitlines()
        if line.startswith("data:") and line[5:].strip().startswith("{")
    ]
    done = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
    ends = [event["response"].get("output") for event in events if event.get("type") == "response.completed"]
    nothing: list[dict[str, Any]] = []
    return done or next((output for output in ends if output), nothing)


def in_converse(body: str) -> tuple[Ran, ...]:
    """From a whole reply of Bedrock's Converse."""
    if not body.lstrip().startswith("{"):
        return ()
    blocks = json.loads(body).get("output", {}).get("message", {}).get("content", [])
    results = {block["toolResult"]["toolUseId"]: block["toolResult"] for block in blocks if "toolResult" in block}
    found: list[Ran] = []
    for use in [block["toolUse"] for block in blocks if block.get("toolUse", {}).get("type") == "server_tool_use"]:
        result = results.get(use["toolUseId"], {})
        name = _NAMES.get(str(use["name"]), str(use["name"]))
        found.append(Ran(name, use["input"], bool(result), result.get("status") == "error"))
    return tuple(found)
