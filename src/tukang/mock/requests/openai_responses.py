"""OpenAI Responses, the request's side. Source: https://platform.openai.com/docs/api-reference/responses/create

* Each `function_call` has its `function_call_output` somewhere after it, and the reverse; `call_id` has at most 64
  characters. With `previous_response_id` or `conversation` the calls may stand in what the provider stored.
* Ids of items begin with `fc`, `msg`, `rs`. A reasoning item is followed by what it led to, and a call that came with
  reasoning is preceded by it. With `store: false` reasoning lives in its `encrypted_content` only, which comes back
  as it was.
* What the provider runs itself, and what it asks about: see `hosted`.
* Tool names, schemas and choices are those of Chat Completions, with the function as the tool itself.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec.structs import replace

from tukang.mock.requests.hosted import of_responses
from tukang.mock.requests.openai_chat import TOOL_NAME, choice, offered
from tukang.mock.requests.reading import is_object, items, last_results, member, need, words
from tukang.mock.seals import is_seal, seal
from tukang.mock.values import JSON, Address, Asked, Wish

_LONGEST_ID = 64
_RESULTS = ("_call.results", "_call.outputs", "_call.action.sources")
_BEGINS = {"function_call": "fc", "message": "msg", "reasoning": "rs"}
_ROLES = frozenset({"system", "developer", "user", "assistant"})


def read(body: JSON, address: Address) -> Asked:  # noqa: ARG001 - the same for each protocol
    """What is asked, if OpenAI would answer it."""
    need(isinstance(body.get("model"), str) and body["model"], "Missing required parameter: 'model'.", param="model")
    said: Any = body.get("input")
    text = isinstance(said, str)
    earlier = bool(body.get("previous_response_id") or body.get("conversation"))
    need(text or isinstance(said, list), "Missing required parameter: 'input'.", param="input")
    need(earlier or said not in ("", []), "Input must not be empty.", param="input")
    given: list[Any] = [{"role": "user", "content": said}] if text else cast("list[Any]", said)
    for place, item in enumerate(given):
        _check_item(f"input[{place}]", item)
    entries = cast("list[JSON]", given)
    _check_pairs(entries, earlier=earlier)
    _check_reasoning(entries, stored=body.get("store") is not False)
    tools = offered(body, None)
    needed = f"Tool choice '{body.get('tool_choice')}' must be specified with 'tools' parameter."
    need(body.get("tool_choice") in (None, "auto", "none") or items(body, "tools"), needed, param="tool_choice")
    return replace(_asked(body, choice(body, tools, nested=None), entries), hosting=of_responses(body, entries))


def _asked(body: JSON, wanted: str, entries: list[JSON]) -> Asked:
    last = last_results(entries, lambda item: item.get("type") == "function_call_output")
    results = tuple(words(item.get("output")) for item in last)
    said = [words(item.get("content")) for item in entries if item.get("role") == "user"]
    wishes: set[Wish] = {"encrypted"} if "reasoning.encrypted_content" in items(body, "include") else set()
    if any(str(wish).endswith(_RESULTS) for wish in items(body, "include")):
        wishes.add("results")
    text = said[-1] if said else ""
    form = member(member(member(body, "text"), "format"), "schema") or None
    stream, tools = bool(body.get("stream")), offered(body, None)
    return Asked(body["model"], stream, tools, wanted, text, results, frozenset(wishes), form)


def _kind(item: JSON) -> str:
    return str(item.get("type") or "message")


def _check_item(at: str, item: Any) -> None:
    need(is_object(item), f"Invalid type for '{at}': expected an object.", param=at)
    kind, name = _kind(item), item.get("id")
    begins = _BEGINS.get(kind)
    if name is not None and begins:
        wrong = f"Invalid '{at}.id': '{name}'. Expected an ID that begins with '{begins}'."
        need(str(name).startswith(begins), wrong, param=f"{at}.id", code="invalid_value")
    match kind:
        case "message":
            role = item.get("role")
            need(
                words(role) in _ROLES,
                f"Invalid value: '{role}'. Supported values are: {sorted(_ROLES)}.",
                param=f"{at}.role",
            )
            need(item.get("content") is not None, f"Missing required parameter: '{at}.content'.", param=f"{at}.content")
            _check_content(at, item, role="assistant" if role == "assistant" else "user")
        case "function_call":
            for field in ("call_id", "name", "arguments"):
                there = isinstance(item.get(field), str)
                need(there, f"Missing required parameter: '{at}.{field}'.", param=f"{at}.{field}")
            legal = TOOL_NAME.fullmatch(item["name"])
            need(legal, f"Invalid '{at}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.", param=f"{at}.name")
            _check_length(at, item["call_id"])
        case "function_call_output":
            need(isinstance(item.get("call_id"), str), f"Missing required parameter: '{at}.call_id'.", param=at)
            need(item.get("output") is not None, f"Missing required parameter: '{at}.output'.", param=f"{at}.output")
            _check_length(at, item["call_id"])
        case "reasoning":
            need(isinstance(item.get("summary"), list), f"Missing required parameter: '{at}.summary'.", param=at)
        case _:
            pass


def _check_content(at: str, item: JSON, *, role: str) -> None:
    """A user's content is input, an assistant's is output."""
    wrong = "output_text" if role == "user" else "input_text"
    right = "'input_text', 'input_image', and 'input_file'" if role == "user" else "'output_text' and 'refusal'"
    for place, part in enumerate(items(item, "content")):
        fits = not is_object(part) or part.get("type") != wrong
        where = f"{at}.content[{place}]"
        need(fits, f"Invalid value: '{wrong}'. Supported values are: {right}.", param=where, code="invalid_value")


def _check_length(at: str, call_id: str) -> None:
    longest = f"Invalid '{at}.call_id': string too long. Expected a string with maximum length {_LONGEST_ID}"
    need(len(call_id) <= _LONGEST_ID, f"{longest}, but got a string with length {len(call_id)} instead.", param=at)
    need(call_id, f"Invalid '{at}.call_id': empty string. Expected a string with minimum length 1.", param=at)


def _check_pairs(entries: list[JSON], *, earlier: bool) -> None:
    called: set[str] = set()
    answered: set[str] = set()
    for item in entries:
        call_id = words(item.get("call_id"))
        if _kind(item).endswith("_call"):
            called.add(call_id)
        elif _kind(item) == "function_call_output":
            orphan = f"No tool call found for function call output with call_id {call_id}."
            need(earlier or call_id in called, orphan, param="input")
            answered.add(call_id)
    functions = [words(item["call_id"]) for item in entries if _kind(item) == "function_call"]
    for call_id in (name for name in functions if name not in answered):
        need(False, f"No tool output found for function call {call_id}.", param="input")


def _check_reasoning(entries: list[JSON], *, stored: bool) -> None:
    reasoned: set[str] = set()
    for place, item in enumerate(entries):
        name = words(item.get("id"))
        if _kind(item) == "reasoning":
            _check_sealed(item, name, stored=stored)
            after = entries[place + 1] if place + 1 < len(entries) else {}
            led = (
                _kind(after) not in ("function_call_output",)
                and after.get("role", "assistant") == "assistant"
                and after
            )
            need(
                led,
                f"Item '{name}' of type 'reasoning' was provided without its required following item.",
                param="input",
            )
            reasoned.add(name)
        elif _kind(item) == "function_call" and name:
            # ids of ours say which reply they are of, and whether it had reasoning
            reply = name.removeprefix("fc_").partition("_")[0]
            there = not reply.endswith("r") or not _ours(reply) or f"rs_{reply}" in reasoned
            lost = f"Item '{name}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_{reply}'."
            need(there, lost, param="input")


def _ours(reply: str) -> bool:
    return len(reply) == 7 and all(letter in "0123456789abcdef" for letter in reply[:-1])


def _check_sealed(item: JSON, name: str, *, stored: bool) -> None:
    sealed = item.get("encrypted_content")
    lost = f"Item with id '{name}' not found. Items are not persisted when `store` is set to false."
    need(sealed or stored, lost, param="input", status=404)
    broken = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."
    good = sealed is None or (is_seal(sealed) and (not name or sealed == seal(name)))
    need(good, broken, code="invalid_encrypted_content")
