"""The first of the two steps: one tool with its arguments, or "answer now".

The grammar lets the model write nothing but a decision about the tools on offer; what it wrote is checked all the same:
against the schema, for identifiers that nobody gave, and for a call that was already made. A decision that fails is tried
once more, with a remark about what was wrong; then the model answers instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import jsonschema_rs
import msgspec

from tukang.conversation import Usage
from tukang.errors import ModelError
from tukang.grounding.figures import tokens
from tukang.models.local.engine import Completed, Engine, Job, Slot
from tukang.models.local.following import asked_for, did_nothing, put_off, tried_twice, wanted_first
from tukang.models.local.grammar import Grammar, compact, quoted
from tukang.models.local.grounding import Sources, is_year, names_something
from tukang.models.local.prompts import NOTHING, OPENING, decide_prompt
from tukang.models.local.siblings import listed_elsewhere, still_open
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

_NUMBER_WORDS = re.compile(
    r"\b(?:nol|satu|dua|tiga|empat|lima|enam|tujuh|delapan|sembilan|\w*puluh|\w*belas|\w*ratus|\w*ribu|\w*juta|setengah|"
    r"zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|thousand|million|half|dozen|"
    r"kuadrat|akar|squared?|cubed|root)\b",
    re.IGNORECASE,
)

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
    if first := wanted_first(view, tools):
        tools, may_answer = (first,), False
    usage, again = Usage(), _Again(tools)
    for last in (False, True):
        grammar = decision_grammar(again.tools, may_answer=may_answer)
        job = Job(
            Slot.DECIDE, decide_prompt(view, again.tools, again.remark), max_tokens, grammar, extra=_leaning(view)
        )
        text, done = await _written(engine, job, again.tools, may_answer)
        usage += Usage(done.input, done.output, cache_read=done.cached, requests=1)
        if done.finish == "length":
            return Decision(_read(text)[0], text.partition(_ARGUMENTS)[2], cut=True, usage=usage)
        judged = _judged(text, again, view, sources, may_answer=may_answer)
        if isinstance(judged, Decision):
            return msgspec.structs.replace(judged, usage=usage)
        if last and judged.final:
            return msgspec.structs.replace(judged.final, usage=usage)
        again = judged
    return Decision(None, missing=again.missing, usage=usage)


class _Again(msgspec.Struct, frozen=True):
    """Why a decision does not stand as it is, and what to offer for another try. `final` stands when there is none."""

    tools: Sequence[Contract]
    remark: str = ""
    missing: tuple[str, ...] = ()
    final: Decision | None = None


def _judged(text: str, asked: _Again, view: View, sources: Sources, *, may_answer: bool) -> Decision | _Again:
    """What a written decision comes to."""
    name, need, arguments = _read(text)
    tool = next((tool for tool in asked.tools if tool.name == name), None)
    reminder = _reminder(view)
    if tool is None and reminder and not asked.remark:
        return _Again(asked.tools, reminder)
    if tool is None:
        return Decision(None, missing=() if view.steps else asked.missing)
    arguments = _corrected(arguments, sources)
    others = tuple(other for other in asked.tools if other is not tool)
    if right := listed_elsewhere(tool, arguments.values(), others):
        asked, tool = _Again(others, asked.remark), right
    key = call_key(tool.name, arguments)
    if any(step.key == key and not did_nothing(step) for step in view.steps) or tried_twice(view, key):
        return _Again(asked.tools, reminder) if reminder else Decision(None)
    others = tuple(other for other in asked.tools if other is not tool)
    if may_answer and not asked_for(view, tool.name, f"{need} {compact(list(arguments.values()))}"):
        return _Again(others, reminder) if others else Decision(None)
    missing = tuple(_ungrounded(arguments, sources, tool, view))
    call = Decision(tool.name, msgspec.json.encode(arguments).decode())
    if missing:
        # a measure that nobody gave may be what another tool finds out
        measure = may_answer and others and any(isinstance(arguments[name], int | float) for name in missing)
        return _Again(others if measure else asked.tools, _unsaid(missing), missing)
    if fault := _fault(tool, arguments):
        return _Again(asked.tools, fault, final=call)
    if doubtful := tuple(_unheard(arguments, view, tool)):
        return _Again(asked.tools, _unsaid(doubtful), final=call)
    return call


def _unsaid(names: Sequence[str]) -> str:
    return f"nilai untuk {', '.join(names)} belum disebut; jangan mengarang."


def _reminder(view: View) -> str:
    """What was named beside something that was looked up, and was not looked up itself."""
    return next((f"{tool} untuk {thing} belum ada di hasil." for tool, thing in still_open(view)), "")


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


def _ungrounded(arguments: Mapping[str, Any], sources: Sources, tool: Contract, view: View) -> Iterator[str]:
    """Names of the arguments that carry a token nobody gave, or nothing at all (`""`, `-`, `unknown`).

    A measure (a number that need not be whole) is such a token too, unless the request has numbers in words.
    """
    properties = cast("Mapping[str, Any]", tool.parameters.get("properties") or {})
    spelled = bool(_NUMBER_WORDS.search(view.request))
    for name, value in arguments.items():
        if _is_measure(properties.get(name), value) and not spelled and not sources.knows(f"{abs(value):.15g}"):
            yield name
            continue
        for text in _strings(value):
            invented = any(names_something(token) and not sources.knows(token) for token in tokens(text))
            if invented or not any(map(str.isalnum, text)) or text.strip(" <>[]()").lower() in _PLACEHOLDERS:
                yield name
                break


def _is_measure(schema: object, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    text = msgspec.json.encode(schema).decode() if schema is not None else ""
    return '"number"' in text


def _unheard(arguments: Mapping[str, Any], view: View, tool: Contract) -> Iterator[str]:
    """Names of the arguments whose whole text is a name or a word that nobody has said, such as a city for a greeting.

    That is a doubt, no more: a capital may be worked out from its country, and a search is put in other words. So it costs
    one more try, and what is decided twice is passed on.
    """
    earlier = [text for exchange in view.earlier for text in (exchange.request, exchange.answer)]
    results = [step.line for step in view.steps]
    said = " ".join((view.request, view.instructions, *results, *earlier)).lower()
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
