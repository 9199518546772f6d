"""The first of the two steps: one tool with its arguments, or "answer now".

The grammar lets the model write nothing but a decision about the tools on offer; what it wrote is checked all the same:
against the schema, for identifiers that nobody gave, and for a call that was already made. A decision that fails is tried
once more, with a remark about what was wrong; then the model answers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import jsonschema_rs
import msgspec

from tukang.conversation import Usage
from tukang.errors import ModelError
from tukang.models.local.engine import Completed, Engine, Job, Slot
from tukang.models.local.following import asked_for, did_nothing, put_off, tried_twice, wanted_first
from tukang.models.local.grammar import Grammar, compact, quoted
from tukang.models.local.grounding import Sources, is_year, names_something, tokens
from tukang.models.local.prompts import NOTHING, OPENING, decide_prompt
from tukang.models.local.view import View, call_key
from tukang.tools.contract import Contract

LONGEST_DECISION = 640
"""Tokens: room for a letter's text among the arguments."""


_EAGERNESS, _CONTENT = 1.2, 0.5
"""How far the first token of a decision, which says whether anything is called, is leant on (log-odds).

Measured on 60 first tokens, calls and no calls lie apart at 0, but for two kinds. Orders such as "Buatkan pesanan 3 unit
PRD001" need `_EAGERNESS`: it is given where a request carries a code or a figure and nothing was called yet. And after
results the model likes to go on, to an order that nobody asked for: there `_CONTENT` holds it back.
"""

_PLACEHOLDERS = frozenset(("unknown", "none", "null", "n/a", "undefined", "any", "tidak diketahui", "belum disebut"))

_ARGUMENTS = '"arguments": '


class Decision(msgspec.Struct, frozen=True):
    """What to do next.

    Args:
        tool: the tool to call; None to answer.
        arguments: their JSON text, as the model wrote them.
        missing: names of the arguments that nobody gave, when that is why the model has to answer. Empty after results: what
            the model still wanted then is more often its own wish than the user's.
        cut: the text ended at the token limit; the arguments are not complete.
        usage: of all tries.
    """

    tool: str | None
    arguments: str = ""
    missing: tuple[str, ...] = ()
    cut: bool = False
    usage: Usage = Usage()


def decision_grammar(tools: Sequence[Contract], *, may_answer: bool) -> str:
    """GBNF for one decision."""
    grammar = Grammar()
    grammar.add("need", r"[^\x22\x5C\x7F\x00-\x1F-] [^\x22\x5C\x7F\x00-\x1F]{1,80}")
    options = [
        quoted(' "') + " need " + quoted(f'", "name": "{tool.name}", "arguments": ')
        + f" {grammar.arguments(f'call-{tool.name}', tool.parameters)} " + quoted("}")
        for tool in tools
    ]  # fmt: skip
    return grammar.text(" | ".join([*options, *([quoted(NOTHING)] if may_answer else [])]))


async def decide(
    engine: Engine,
    view: View,
    tools: Sequence[Contract],
    sources: Sources,
    *,
    may_answer: bool = True,
    max_tokens: int = LONGEST_DECISION,
) -> Decision:
    """Ask the model for the next step; two tries at most.

    Args:
        engine: completes the prompt.
        view: the conversation.
        tools: what may be called; not empty.
        sources: what an identifier in the arguments has to come from.
        may_answer: false when a call is required. Even then nothing invented is passed on: the decision is to answer.
        max_tokens: the longest decision.
    """
    if again := put_off(view, tools):
        return Decision(again.name, again.arguments)
    usage, remark, missing = Usage(), "", ()
    if first := wanted_first(view, tools):
        tools, may_answer = (first,), False
    grammar = decision_grammar(tools, may_answer=may_answer)
    for last in (False, True):
        prompt = decide_prompt(view, tools, remark)
        text, done = await _written(
            engine, Job(Slot.DECIDE, prompt, max_tokens, grammar, extra=_leaning(view)), tools, may_answer
        )
        usage += Usage(done.input, done.output, cache_read=done.cached, requests=1)
        name, need, arguments = _read(text)
        if done.finish == "length":
            return Decision(name, text.partition(_ARGUMENTS)[2], cut=True, usage=usage)
        tool = next((tool for tool in tools if tool.name == name), None)
        if tool is None:
            return Decision(None, missing=() if view.steps else missing, usage=usage)
        arguments = _corrected(arguments, sources)
        key = call_key(tool.name, arguments)
        if any(step.key == key and not did_nothing(step) for step in view.steps) or tried_twice(view, key):
            return Decision(None, usage=usage)
        if may_answer and not asked_for(view, tool.name, f"{need} {compact(list(arguments.values()))}"):
            tools = [other for other in tools if other is not tool]
            if last or not tools:
                return Decision(None, usage=usage)
            grammar, remark = decision_grammar(tools, may_answer=True), ""
            continue
        missing = tuple(_ungrounded(arguments, sources))
        doubtful = () if missing or last else tuple(_unheard(arguments, view, tool))
        fault = None if missing else _fault(tool, arguments)
        if not missing and not doubtful and (fault is None or last):
            return Decision(tool.name, msgspec.json.encode(arguments).decode(), usage=usage)
        remark = fault or f"nilai untuk {', '.join(missing or doubtful)} belum disebut; jangan mengarang."
    return Decision(None, missing=missing, usage=usage)


def _leaning(view: View) -> dict[str, Any]:
    """llama.cpp's own field: a bias on the first token of "nothing", which no call begins with."""
    figures = any(not is_year(token) for token in tokens(view.request))
    bias = _CONTENT if view.steps else -_EAGERNESS if figures else 0.0
    return {"logit_bias": [[NOTHING[:3], bias]]} if bias else {}


async def _written(engine: Engine, job: Job, tools: Sequence[Contract], may_answer: bool) -> tuple[str, Completed]:
    """The text of a completion. A grammar the engine refuses is replaced once by one that only holds the tools' names."""
    try:
        return await collect(engine, job)
    except ModelError as error:
        if error.kind != "bad_request":
            raise
        loose = [Contract(tool.name, tool.description, {"type": "object"}) for tool in tools]
        return await collect(
            engine, msgspec.structs.replace(job, grammar=decision_grammar(loose, may_answer=may_answer))
        )


async def collect(engine: Engine, job: Job) -> tuple[str, Completed]:
    """The whole text of a job, and how it ended."""
    pieces: list[str] = []
    async for item in engine.complete(job):
        if isinstance(item, Completed):
            return "".join(pieces), item
        pieces.append(item.text)
    raise ModelError("bad_response", "the local engine stopped without saying so.")


class _Written(msgspec.Struct):
    sisa: str = ""
    name: str | None = None
    arguments: dict[str, Any] = {}


def _read(text: str) -> tuple[str | None, str, dict[str, Any]]:
    """Name, need and arguments of a decision; no name is "answer", the arguments are empty where they are cut."""
    try:
        written = msgspec.json.decode(OPENING + text, type=_Written)
    except msgspec.DecodeError:
        name = text.partition('"name": "')[2].partition('"')[0]
        return name or None, "", {}
    return written.name, written.sisa, written.arguments


def _fault(tool: Contract, arguments: Mapping[str, Any]) -> str | None:
    """What the schema says against the arguments, in one sentence; a schema that cannot be used says nothing."""
    try:
        validator = jsonschema_rs.validator_for(dict(tool.parameters))
        error = next(iter(validator.iter_errors(arguments)), None)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return None
    return None if error is None else error.message


# ── identifiers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _ungrounded(arguments: Mapping[str, Any], sources: Sources) -> Iterator[str]:
    """Names of the arguments that carry a token nobody gave, or nothing at all (`""`, `-`, `unknown`)."""
    for name, value in arguments.items():
        for text in _strings(value):
            invented = any(names_something(token) and not sources.knows(token) for token in tokens(text))
            if invented or not any(map(str.isalnum, text)) or text.strip(" <>[]()").lower() in _PLACEHOLDERS:
                yield name
                break


def _unheard(arguments: Mapping[str, Any], view: View, tool: Contract) -> Iterator[str]:
    """Names of the arguments whose whole text is a name or a word that nobody has said, such as a city for a greeting.

    That is a doubt, no more: a capital may be worked out from its country, and a search is put in other words. So it costs
    one more try, and what is decided twice is passed on.
    """
    earlier = [text for exchange in view.earlier for text in (exchange.request, exchange.answer)]
    results = [step.line for step in view.steps]
    said = " ".join((view.request, *view.context, view.instructions, *results, *earlier)).lower()
    properties = cast("Mapping[str, Any]", tool.parameters.get("properties") or {})
    for name, value in arguments.items():
        listed = "enum" in cast("Mapping[str, Any]", properties.get(name) or {})
        if isinstance(value, str) and not listed and not any(word[:4] in said for word in value.lower().split()):
            yield name


def _corrected(arguments: dict[str, Any], sources: Sources) -> dict[str, Any]:
    """The arguments with each misspelt identifier put right, where there is exactly one it can be."""

    def correct(text: str) -> str:
        for token in tokens(text):
            if not sources.knows(token) and (nearest := sources.nearest(token)):
                text = text.replace(token, nearest)
        return text

    return cast("dict[str, Any]", _mapped(arguments, correct))


def _mapped(value: object, change: Callable[[str], str]) -> object:
    match value:
        case str():
            return change(value)
        case dict():
            return {key: _mapped(member, change) for key, member in cast("dict[str, object]", value).items()}
        case list():
            return [_mapped(item, change) for item in cast("list[object]", value)]
        case _:
            return value


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for member in cast("dict[str, object]", value).values():
                yield from _strings(member)
        case list():
            for item in cast("list[object]", value):
                yield from _strings(item)
        case _:
            return
