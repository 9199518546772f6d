"""A neutral request as the body of a Messages request. The rules it follows stand at the top of `anthropic`.

Pure: no I/O, no HTTP, no provider's state; Bedrock's InvokeModel sends the same body. The blocks of a message are kept in the
message's own dictionary (`Dialect.spelling`), so a request costs a join of what is there and the encoding of what is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from tukang.conversation import Message, ToolResult
from tukang.models.adapting import answered
from tukang.models.anthropic_blocks import (
    Asked,
    Kept,
    assistant_blocks,
    encode,
    is_thought,
    result_blocks,
    user_blocks,
)
from tukang.models.anthropic_dialect import Dialect, dialect_for
from tukang.models.anthropic_hosted import mcp_servers
from tukang.models.anthropic_options import add_options, instructions, note_of
from tukang.models.anthropic_tools import tools, with_tools_gone
from tukang.models.base import ModelRequest

_CACHE = {"type": "ephemeral"}
_MARK = b',"cache_control":' + encode(_CACHE) + b"}"
_NOTHING = encode({"type": "text", "text": "…"})
_SERVED = (b'{"type":"server_tool_use"', b'{"type":"mcp_tool_use"')
_GO_ON = encode({"type": "text", "text": "(Go on exactly where you stopped.)"})


def encode_body(
    model: str | None,
    request: ModelRequest,
    *,
    dialect: Dialect | None = None,
    stream: bool = False,
    fields: Mapping[str, Any] | None = None,
) -> bytes:
    """The whole body.

    Args:
        model: the model's name on the wire; None where it stands elsewhere (Bedrock has it in the address).
        request: what to send.
        dialect: see `Dialect`; told by the model's name if None.
        stream: whether the body asks for a stream.
        fields: more fields of the platform's, such as Bedrock's `anthropic_version`.

    Raises:
        ConfigurationError: a setting, a tool or `returns` is something the provider refuses.
    """
    dialect = dialect or dialect_for(model or "")
    request = with_tools_gone(request)
    cache = request.settings.cache
    turns, container, pending = _turns(request, dialect)
    # While the provider still works on a call of its own, no words may come between: the note joins the instructions.
    note = note_of(request, dialect)
    aside = note if pending else None
    marks = _marks(turns) if cache else {}  # before the note: it is for this request only
    if note and not pending:
        _say(turns, "user", (encode({"type": "text", "text": note}),))
    elif not pending:
        _end(turns, dialect, request)
    body: dict[str, Any] = {} if model is None else {"model": model}
    body.update(fields or {})
    if stream:
        body["stream"] = True
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in instructions(request, dialect)]
    if system and cache:
        system[-1]["cache_control"] = _CACHE
    if aside:
        system.append({"type": "text", "text": aside})
    if system:
        body["system"] = system
    offered = tools(request, dialect)
    if offered:
        if cache:
            offered[-1] = _marked(offered[-1])
        body["tools"] = _array(offered)
    if servers := mcp_servers(request):
        body["mcp_servers"] = servers
    body["messages"] = [
        {"role": turn.role, "content": _array(_with_mark(turn.blocks, marks.get(place)))}
        for place, turn in enumerate(turns)
    ]
    if container is not None:
        body["container"] = container
    add_options(body, request, dialect, thinks=_thinks(turns))
    return encode(body)


# ── turns: roles alternate ───────────────────────────────────────────────────────────────────────────────────────────


class Turn(msgspec.Struct):
    """Everything one side says until the other one speaks."""

    role: Literal["user", "assistant"]
    blocks: list[bytes]


def _turns(request: ModelRequest, dialect: Dialect) -> tuple[list[Turn], str | None, bool]:
    """The conversation; the container of the turn under way; whether a call of the provider's own is still under way."""
    turns: list[Turn] = []
    messages = request.messages
    kept = _assistants(messages, dialect)
    spelling = dialect.spelling
    open_calls: tuple[Asked, ...] = ()
    answers: list[Message] = []
    container: str | None = None
    pending = False
    for place, message in enumerate(messages):
        if message.role == "tool":
            answers.append(message)
            continue
        _say(turns, "user", _answers(answers, open_calls, spelling))
        answers.clear()
        if message.role == "user":
            open_calls, pending = (), False
            said = vars(message).get("anthropic")
            if said is None:
                vars(message)["anthropic"] = said = user_blocks(message)
            if said.blocks:
                container = None
            _say(turns, "user", said.blocks)
        else:
            said, pending = kept[place]
            open_calls = said.asked
            container = said.container or container
            _say(turns, "assistant", said.blocks)
    _say(turns, "user", _answers(answers, open_calls, spelling))
    if not turns or turns[0].role == "assistant":
        turns.insert(0, Turn("user", [_NOTHING]))  # a conversation begins with the user
    return turns, container, pending


def _say(turns: list[Turn], role: Literal["user", "assistant"], blocks: Sequence[bytes]) -> None:
    if not blocks:
        return
    if turns and turns[-1].role == role:
        turns[-1].blocks += blocks
    else:
        turns.append(Turn(role, list(blocks)))


def _end(turns: list[Turn], dialect: Dialect, request: ModelRequest) -> None:
    """A conversation that ends with the assistant: to be gone on with, in the way the model takes it. A reply in which the
    provider ran something paused there, and goes back as it is."""
    last = turns[-1]
    if last.role == "user":
        return
    thinks = request.settings.think not in (None, False)
    speaks, paused = (
        last.blocks[-1].startswith(b'{"type":"text"'),
        any(block.startswith(_SERVED) for block in last.blocks),
    )
    if paused and not speaks:
        return
    if not paused and (not dialect.prefill or thinks or not speaks):
        turns.append(Turn("user", [_GO_ON]))
        return
    block = msgspec.json.decode(last.blocks[-1])
    block["text"] = block["text"].rstrip()  # white space at the very end is refused
    last.blocks[-1] = encode(block)


def _thinks(turns: Sequence[Turn]) -> bool:
    """Whether thinking may be on with a budget: not in the middle of calls that came without thinking."""
    last = next((turn for turn in reversed(turns) if turn.role == "assistant"), None)
    if last is None or not any(block.startswith(b'{"type":"tool_use"') for block in last.blocks):
        return True
    return is_thought(last.blocks[0])


# ── what was said, once encoded ──────────────────────────────────────────────────────────────────────────────────────


def _assistants(messages: Sequence[Message], dialect: Dialect) -> dict[int, tuple[Kept, bool]]:
    """Each assistant message by its place, and whether a server-side call in it is still under way.

    The messages are encoded one by one; here is mended what they do not know of each other: a server-side call without its
    result, or the reverse, is left out, unless the provider is still to go on with it; and no two calls share an id.
    """
    found = {place: _kept(message, dialect) for place, message in enumerate(messages) if message.role == "assistant"}
    called = {one for kept in found.values() for one in kept.server_calls}
    brought = {one for kept in found.values() for one in kept.server_results}
    lone = called ^ brought
    last = max(found, default=-1)
    out: dict[int, tuple[Kept, bool]] = {}
    taken: set[str] = set()
    for place, kept in found.items():
        pending = False
        without: set[str] = set()
        if lone:
            without = lone.intersection((*kept.server_calls, *kept.server_results))
            if place == last and not any(message.role == "user" for message in messages[place:]):
                pending = bool(without & called)
                without -= called
        if without or any(one.wire_id in taken for one in kept.asked):
            back = dialect.thinking_back
            kept = assistant_blocks(
                messages[place], thinking=back, toolset=dialect.toolset, without=without, taken=taken
            )
        taken.update(one.wire_id for one in kept.asked)
        out[place] = kept, pending
    return out


def _kept(message: Message, dialect: Dialect) -> Kept:
    spelling = dialect.spelling
    kept: Kept | None = vars(message).get(spelling)
    if kept is None:
        vars(message)[spelling] = kept = assistant_blocks(
            message, thinking=dialect.thinking_back, toolset=dialect.toolset
        )
    return kept


def _answers(messages: list[Message], asked: tuple[Asked, ...], spelling: str) -> Sequence[bytes]:
    """The results of the calls before, one for each, in the order asked: what is missing is made up, the rest dropped."""
    if not asked:
        return ()
    if len(messages) == 1:
        kept: Kept | None = vars(messages[0]).get(spelling)
        if kept is None or (kept.asked is not asked and kept.asked != asked):
            vars(messages[0])[spelling] = kept = Kept(result_blocks(_paired(messages, asked)), asked)
        return kept.blocks
    return result_blocks(_paired(messages, asked))


def _paired(messages: Sequence[Message], asked: Sequence[Asked]) -> list[tuple[Asked, ToolResult]]:
    results = answered([result for message in messages for result in message.results], asked)
    return list(zip(asked, results, strict=True))


# ── cache marks ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _marks(turns: Sequence[Turn]) -> dict[int, int]:
    """Which block of which turns ends a stretch worth keeping: the last of the last two user turns.

    The later one is written to the cache by this request, and the earlier one was by the request before, so that it is found
    again however many blocks have come between.
    """
    users = [place for place, turn in enumerate(turns) if turn.role == "user"]
    return {place: len(turns[place].blocks) - 1 for place in users[-2:]}


def _with_mark(blocks: list[bytes], place: int | None) -> list[bytes]:
    if place is None:
        return blocks
    return [*blocks[:place], _marked(blocks[place]), *blocks[place + 1 :]]


def _marked(block: bytes) -> bytes:
    return block[:-1] + _MARK


def _array(chunks: Sequence[bytes]) -> msgspec.Raw:
    return msgspec.Raw(b"[" + b",".join(chunks) + b"]")
