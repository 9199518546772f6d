"""Gemini `generateContent`, the request's side.

Source: https://ai.google.dev/api/generate-content, …/gemini-api/docs/function-calling and …/thought-signatures.

* Roles are user and model. A turn of calls comes right after a user's or a results' turn, and is followed by one turn with as
  many results as it has calls; results stand nowhere else.
* `parameters` is a small part of OpenAPI's schema, an unknown word in it is an error; `parametersJsonSchema` is JSON Schema.
* From Gemini 3 on, the first call of each reply in the turn under way carries the `thoughtSignature` it came with.
  Google's own `skip_thought_signature_validator` stands for calls that came from elsewhere. A wrong one is always refused.
"""

from __future__ import annotations

import re
from typing import Any, cast

from tukang.mock.requests.reading import is_object, items, member, need, objects, words
from tukang.mock.seals import is_seal, seal
from tukang.mock.values import JSON, Address, Asked, Offered, Wish

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_OLDER = re.compile(r"gemini-[12]")
_SKIPS = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
_SCHEMA_WORDS = frozenset(
    {"type", "format", "title", "description", "nullable", "default", "example", "enum", "anyOf"}
    | {"properties", "required", "propertyOrdering", "minProperties", "maxProperties", "items", "minItems", "maxItems"}
    | {"minLength", "maxLength", "pattern", "minimum", "maximum"}
)
_TURN = "Please ensure that "
_COUNT = (
    f"{_TURN}the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)


def read(body: JSON, address: Address) -> Asked:
    """What is asked, if Google would answer it."""
    body = {_camel(name): value for name, value in body.items()}
    contents = objects(body, "contents")
    need(contents, "* GenerateContentRequest.contents: contents is not specified\n")
    for place, content in enumerate(contents):
        role = content.get("role", "user")
        need(role in ("user", "model", "function"), "Please use a valid role: user, model.")
        part = f"* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty.\n"
        need(objects(content, "parts"), part)
        for number, piece in enumerate(objects(content, "parts")):
            filled = any(name not in ("thought", "thoughtSignature", "thought_signature") for name in piece)
            blank = f"* GenerateContentRequest.contents[{place}].parts[{number}].data: required oneof field 'data' must have"
            need(filled, f"{blank} one initialized field\n")
    _check_turns(contents)
    _check_signatures(contents, asked_of_older=bool(_OLDER.match(address.model)))
    tools = _offered(body)
    return _asked(body, address, tools, contents)


def _asked(body: JSON, address: Address, tools: tuple[Offered, ...], contents: list[JSON]) -> Asked:
    last = objects(contents[-1], "parts")
    results = tuple(
        words(_of(part, "functionResponse").get("response")) for part in last if _of(part, "functionResponse")
    )
    texts = [
        words(part["text"])
        for content in contents
        if content.get("role", "user") == "user"
        for part in objects(content, "parts")
        if "text" in part
    ]
    wishes: set[Wish] = {"events"} if address.query.get("alt") == "sse" else set()
    return Asked(
        address.model,
        address.action.startswith("stream"),
        tools,
        _choice(body, tools),
        texts[-1] if texts else "",
        results,
        frozenset(wishes),
        member(member(body, "generationConfig"), "responseJsonSchema") or None,
    )


def _camel(name: str) -> str:
    """Google reads both spellings of every name; a client of its own may send the one with underscores."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _of(holder: JSON, name: str) -> JSON:
    """The object under this name, in either spelling."""
    return next((value for key, value in holder.items() if _camel(key) == name and is_object(value)), cast("JSON", {}))


def _listed(holder: JSON, name: str) -> list[Any]:
    """The list under this name, in either spelling."""
    return next((items(holder, key) for key in holder if _camel(key) == name), cast("list[Any]", []))


def _check_turns(contents: list[JSON]) -> None:
    waiting: list[JSON] = []
    for place, content in enumerate(contents):
        parts = objects(content, "parts")
        calls = [found for part in parts if (found := _of(part, "functionCall"))]
        results = [found for part in parts if (found := _of(part, "functionResponse"))]
        role = content.get("role", "user")
        if results:
            need(waiting, f"{_TURN}function response turn comes immediately after a function call turn.")
        if waiting:
            need(len(results) == len(waiting), _COUNT)
            for call, result in zip(waiting, results, strict=True):
                _check_pair(call, result)
        if calls:
            after = place > 0 and contents[place - 1].get("role", "user") != "model"
            turn = f"{_TURN}function call turn comes immediately after a user turn or after a function response turn."
            need(after and role == "model", turn)
        waiting = calls
    # a conversation that ends in calls has nothing to go on with
    need(not waiting, _COUNT)


def _check_pair(call: JSON, result: JSON) -> None:
    legal = _NAME.fullmatch(words(result.get("name")))
    need(legal, "* GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.\n")
    need(
        is_object(result.get("response")),
        'Invalid value at "function_response.response" (type.googleapis.com/google.protobuf.Struct)',
    )
    both = call.get("id") is not None and result.get("id") is not None
    need(
        not both or call["id"] == result["id"],
        f"Function response id {result.get('id')} does not match the function call.",
    )


def _check_signatures(contents: list[JSON], *, asked_of_older: bool) -> None:
    asked = [
        place
        for place, content in enumerate(contents)
        if content.get("role", "user") == "user" and any("text" in part for part in objects(content, "parts"))
    ]
    begins = asked[-1] if asked else 0
    for place, content in enumerate(contents):
        calls = [part for part in objects(content, "parts") if _of(part, "functionCall")]
        for number, part in enumerate(calls):
            call = _of(part, "functionCall")
            signature = part.get("thoughtSignature", part.get("thought_signature"))
            if number == 0 and place > begins and not asked_of_older:
                need(
                    signature,
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
                    f"correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
                    f"function call `default_api:{call.get('name')}`, position {place + 1}.",
                )
            if signature is not None:
                need(_genuine(str(signature), words(call.get("name"))), "Corrupted thought signature.")


def _genuine(signature: str, name: str) -> bool:
    if signature in _SKIPS:
        return True
    # a client that holds signatures as bytes may send base64 in the alphabet for URLs
    plain = signature.replace("-", "+").replace("_", "/")
    return is_seal(plain) and plain == seal(name)


def _offered(body: JSON) -> tuple[Offered, ...]:
    tools: list[Offered] = []
    for tool in objects(body, "tools"):
        declared = _listed(tool, "functionDeclarations")
        for place, function in enumerate(cast("JSON", one) for one in declared if is_object(one)):
            name = words(function.get("name"))
            at = f"tools[0].function_declarations[{place}]"
            legal = (
                "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric, underscores, "
            )
            need(
                _NAME.fullmatch(name),
                f"* GenerateContentRequest.{at}.name: [FIELD_INVALID] {legal}dots, colons or dashes.\n",
            )
            _check_schema(_of(function, "parameters"), f"{at}.parameters")
            schema = _of(function, "parametersJsonSchema") or _plain(_of(function, "parameters"))
            tools.append(Offered(name, schema or {"type": "object"}))
    return tuple(tools)


def _check_schema(schema: JSON, at: str) -> None:
    for name in schema:
        unknown = f"Invalid JSON payload received. Unknown name \"{name}\" at '{at}': Cannot find field."
        need(_camel(name) in _SCHEMA_WORDS, unknown)
    for name, inner in member(schema, "properties").items():
        if is_object(inner):
            _check_schema(inner, f"{at}.properties[{name}].value")
    if is_object(schema.get("items")):
        _check_schema(schema["items"], f"{at}.items")
    for inner in objects(schema, "anyOf"):
        _check_schema(inner, f"{at}.any_of")


def _plain(schema: JSON) -> JSON:
    """Google's schema as JSON Schema: its names of types are in capitals."""
    plain = {name: value for name, value in schema.items() if name not in ("nullable", "format")}
    if isinstance(plain.get("type"), str):
        plain["type"] = plain["type"].lower()
    if "properties" in plain:
        plain["properties"] = {
            name: _plain(inner) for name, inner in member(schema, "properties").items() if is_object(inner)
        }
    if is_object(plain.get("items")):
        plain["items"] = _plain(plain["items"])
    if "anyOf" in plain:
        plain["anyOf"] = [_plain(inner) for inner in objects(schema, "anyOf")]
    return plain


def _choice(body: JSON, tools: tuple[Offered, ...]) -> str:
    config = _of(_of(body, "toolConfig"), "functionCallingConfig")
    names = _listed(config, "allowedFunctionNames")
    mode = str(config.get("mode", "AUTO")).upper()
    need(
        not names or mode in ("ANY", "VALIDATED"),
        "Allowed function names should only be set when function calling mode is ANY.",
    )
    for name in names:
        known = any(tool.name == name for tool in tools)
        need(known, f"allowed_function_names contains a name that is not declared: {name}")
    if mode == "ANY":
        return str(names[0]) if len(names) == 1 else "required"
    return "none" if mode == "NONE" else "auto"
