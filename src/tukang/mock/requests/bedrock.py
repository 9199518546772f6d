"""Amazon Bedrock, the request's side: Converse, and InvokeModel for Anthropic's models.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
…/userguide/model-parameters-anthropic-claude-messages.html

* A request is signed (SigV4), or carries a bearer token. Only its presence is checked here.
* Converse: no content and no text is empty; with models other than Anthropic's the user begins. A message with `toolUse`
  is followed by one with a `toolResult` for each, and the reverse. Tool blocks need a `toolConfig`; there is no tool
  choice `none`. Reasoning goes back with its signature, both as they came.
* InvokeModel: Anthropic's body, without `model` and `stream`, with an `anthropic_version` (clients differ in which).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from tukang.mock.requests.anthropic import read_body
from tukang.mock.requests.reading import is_object, items, member, need, objects, twice, words
from tukang.mock.seals import seal
from tukang.mock.values import JSON, Address, Asked, Offered, Refused

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")


def read_invoke(body: JSON, address: Address) -> Asked:
    """What InvokeModel is asked, if Bedrock would answer it."""
    _check_signed(address)
    need(body.get("anthropic_version"), "anthropic_version: Field required")
    for name in ("model", "stream"):
        extra = (
            f"Malformed input request: #: extraneous key [{name}] is not permitted, please reformat your input and try"
        )
        need(name not in body, f"{extra} again.")
    return read_body(body, address.model, stream=address.action.endswith("stream"))


def read(body: JSON, address: Address) -> Asked:
    """What Converse is asked, if Bedrock would answer it."""
    _check_signed(address)
    messages = objects(body, "messages")
    first = bool(messages) and (messages[0].get("role") == "user" or "anthropic" in address.model)
    start = (
        "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    )
    need(first, start)
    for place, message in enumerate(messages):
        _check_message(place, message)
    _check_pairs(messages)
    configured = "toolConfig" in body
    blocks = any(
        "toolUse" in block or "toolResult" in block for message in messages for block in objects(message, "content")
    )
    need(
        configured or not blocks,
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    )
    tools = _offered(body)
    return replace(_asked(address, tools, _choice(body, tools), messages), form=_form(body))


def _form(body: JSON) -> JSON | None:
    """The schema of the reply's text, which Converse has as a text itself."""
    structure = member(member(member(body, "outputConfig"), "textFormat"), "structure")
    written = member(structure, "jsonSchema").get("schema")
    if written is None:
        return None
    try:
        return msgspec.json.decode(written, type=dict[str, Any])
    except (msgspec.DecodeError, TypeError):
        raise Refused("The JSON schema in outputConfig is not valid JSON. Provide a JSON object as a string.") from None


def _asked(address: Address, tools: tuple[Offered, ...], choice: str, messages: list[JSON]) -> Asked:
    last = objects(messages[-1], "content")
    results = tuple(_result(block["toolResult"]) for block in last if "toolResult" in block)
    texts = [
        words(block["text"])
        for message in messages
        if message["role"] == "user"
        for block in objects(message, "content")
        if "text" in block
    ]
    stream = address.action.endswith("stream")
    return Asked(address.model, stream, tools, choice, texts[-1] if texts else "", results)


def _result(result: JSON) -> str:
    return "\n".join(words(block.get("text", block.get("json"))) for block in objects(result, "content"))


def _check_signed(address: Address) -> None:
    signed = address.headers.get("authorization", "").startswith(("AWS4-HMAC-SHA256 ", "Bearer "))
    need(signed, "Missing Authentication Token", status=403)


def _check_message(place: int, message: JSON) -> None:
    role = message.get("role")
    valid = "Value at 'messages.{}.member.role' failed to satisfy constraint: Member must satisfy enum value set"
    need(role in ("user", "assistant"), valid.format(place + 1))
    content = items(message, "content")
    empty = f"The content field in the Message object at messages.{place} is empty. Add a ContentBlock object to the content "
    need(content, empty + "field and try again.")
    for number, block in enumerate(content):
        _check_block(f"messages.{place}.content.{number}", block, str(role))


def _check_block(at: str, block: Any, role: str) -> None:
    one = is_object(block) and len([name for name in block if name != "SDK_UNKNOWN_MEMBER"]) == 1
    need(one, f"The ContentBlock object at {at} must have exactly one member set.")
    blank = f"The text field in the ContentBlock object at {at} is blank. Add text to the text field, and try again."
    need("text" not in block or words(block["text"]), blank)
    use = member(block, "toolUse")
    if "toolUse" in block:
        need(role == "assistant", f"The toolUse block at {at} is only allowed in a message of the assistant.")
        for field, pattern in (("toolUseId", _ID), ("name", _NAME)):
            legal = f"Value at '{at}.toolUse.{field}' failed to satisfy constraint: Member must match {pattern.pattern}"
            need(pattern.fullmatch(words(use.get(field))), legal)
        object_needed = f"The format of the value at {at}.toolUse.input is invalid. Provide a json object for the field"
        need(is_object(use.get("input")), f"{object_needed} and try again.")
    reasoning = member(member(block, "reasoningContent"), "reasoningText")
    if reasoning.get("signature") is not None:
        genuine = reasoning["signature"] == seal(words(reasoning.get("text")))
        invalid = f"The model returned the following errors: {at}: Invalid `signature` in `thinking` block"
        need(genuine, invalid)


def _check_pairs(messages: list[JSON]) -> None:
    used: list[str] = []
    for place, message in enumerate(messages):
        content = objects(message, "content")
        if message["role"] == "assistant" and any("toolResult" in block for block in content):
            return  # the provider ran a tool itself, inside its message: another kind of pair
        results = [words(member(block, "toolResult").get("toolUseId")) for block in content if "toolResult" in block]
        at = f"messages.{place}.content"
        more = f"The number of toolResult blocks at {at} exceeds the number of toolUse blocks of previous turn."
        need(len(results) <= len(used), more)
        need(not twice(results), f"The toolResult blocks at {at} contain duplicate Ids: {twice(results)}")
        strange = [name for name in results if name not in used]
        need(not strange, f"Unexpected toolResult blocks at {at} for the following Ids: {', '.join(strange)}")
        missing = [name for name in used if name not in results]
        need(not missing, f"Expected toolResult blocks at {at} for the following Ids: {', '.join(missing)}")
        used = [words(block["toolUse"]["toolUseId"]) for block in content if "toolUse" in block]
        need(not twice(used), f"The toolUse blocks at {at} contain duplicate Ids: {twice(used)}")
    last = f"Expected toolResult blocks at messages.{len(messages)}.content for the following Ids: {', '.join(used)}"
    need(not used, last)


def _offered(body: JSON) -> tuple[Offered, ...]:
    if "toolConfig" not in body:
        return ()
    tools: list[Offered] = []
    listed = objects(member(body, "toolConfig"), "tools")
    short = (
        "Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1"
    )
    need(listed, short)
    for place, tool in enumerate(listed):
        spec = member(tool, "toolSpec")
        if not spec:
            continue  # a cache point, or a tool of the provider's
        name = words(spec.get("name"))
        at = f"Value at 'toolConfig.tools.{place + 1}.member.toolSpec"
        wrong = "failed to satisfy constraint: Member must"
        need(_NAME.fullmatch(name), f"{at}.name' {wrong} match [a-zA-Z0-9_-]{{1,64}}")
        schema = member(member(spec, "inputSchema"), "json")
        kind = f"The value at toolConfig.tools.{place}.toolSpec.inputSchema.json.type must be one of the following: object."
        need(schema.get("type") == "object", kind)
        blank = f"{at}.description' {wrong} have length greater than or equal to 1"
        need(spec.get("description") != "", blank)
        tools.append(Offered(name, schema))
    again = twice(tool.name for tool in tools)
    need(not again, f"The tool {again} is already defined at toolConfig.tools.")
    return tuple(tools)


def _choice(body: JSON, tools: tuple[Offered, ...]) -> str:
    wanted = member(member(body, "toolConfig"), "toolChoice")
    if "tool" in wanted:
        name = words(member(wanted, "tool").get("name"))
        known = f"The tool {name} at toolConfig.toolChoice is not defined in toolConfig.tools."
        need(any(tool.name == name for tool in tools), known)
        return name
    return "required" if "any" in wanted else "auto"
