"""Running one call: the runtime's side of a tool. Performs `RunCall`; what a function says comes back as an event."""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from tukang.conversation import Text
from tukang.loop.events import CallFinished
from tukang.loop.state import Call
from tukang.runtime.cache import ResultCache
from tukang.runtime.desk import Prepared, preparing
from tukang.runtime.turn import Turn
from tukang.runtime.vault import Vault
from tukang.tools import advice, noticing
from tukang.tools.context import CallContext, Tell
from tukang.tools.execute import execute
from tukang.tools.failure import words
from tukang.tools.outcome import HARMLESS, Outcome, failed
from tukang.tools.outputs import shortened, too_long
from tukang.tools.policy import Policy
from tukang.tools.tool import Tool
from tukang.tools.toolbox import Toolbox


async def run_call(
    turn: Turn,
    call: Call,
    key: str,
    seconds: float | None,
    clock: Callable[[], float],
    tell: Tell | None = None,
) -> CallFinished:
    """Run the function of a checked call within `seconds`; how it ended. `tell` takes what it says meanwhile."""
    tool = turn.toolbox.get(call.name)
    source = None
    if call.permission:  # nothing is run here: the next request says so to the provider, which then does
        return CallFinished(at=clock(), call=call.id, outcome=_PERMITTED)
    if tool is None or call.arguments is None:
        outcome = failed("not_run", f"{call.name} is not available any more")
    else:
        context = context_of(turn, call, key, seconds, tell)
        do = _executed if call.policy.long is None else functools.partial(_begun, turn, key)
        run = functools.partial(do, turn.vault, tool, call, call.arguments, context, seconds)
        outcome, source = (await run(), None) if turn.cache is None else await _cached(turn.cache, call, run)
    return CallFinished(at=clock(), call=call.id, outcome=outcome, source=source)


_PERMITTED = Outcome((Text("permitted"),))


def context_of(turn: Turn, call: Call, key: str, seconds: float | None, tell: Tell | None = None) -> CallContext[Any]:
    """What a function may know of a call."""
    return CallContext(
        call_id=call.id,
        idempotency_key=key,
        session=turn.started.session,
        deadline=None if seconds is None else time.monotonic() + seconds,
        context=turn.context,
        tell=tell,
        outputs=turn.outputs,
        tasks=turn.tasks,
        search=turn.search if turn.finder else None,
        effect=call.effect,
    )


async def _executed(
    vault: Vault | None, tool: Tool, call: Call, arguments: str, context: CallContext[Any], seconds: float | None
) -> Outcome:
    """The outcome, with no more of its text than the model may read at once."""
    if seconds is not None and seconds <= 0:
        return failed("not_run", "there was no time left to start it")
    if tool.policy.timeout is None and tool.policy.isolation != "process":
        # the turn's own clock stops it (`ending.settle`); a second one for each call costs as much as a rule
        seconds = None
    outcome = await whole_outcome(vault, tool, call.policy, arguments, context, seconds)
    most = call.policy.max_output
    if outcome.fault is not None or most is None or not too_long(outcome.content, most):
        return outcome
    return replace(outcome, content=await shortened(outcome.content, most, call.id, context.outputs), cut=True)


async def _begun(
    turn: Turn,
    key: str,
    vault: Vault | None,
    tool: Tool,
    call: Call,
    arguments: str,
    context: CallContext[Any],
    seconds: float | None,
) -> Outcome:
    """The outcome of a call whose work takes long: a task, or what its function says instead of one."""
    if tool.signature.makes_task:
        prepared = Prepared()
        outcome = await _executed(vault, preparing(tool, prepared), call, arguments, context, seconds)
        if prepared.task is None:
            return outcome
    if turn.tasks is None:
        return failed("not_run", f"{call.name} takes long, and there is nobody here to have it done")
    return await turn.tasks.begin(call, key, turn.context)


async def whole_outcome(
    vault: Vault | None,
    tool: Tool,
    policy: Policy,
    arguments: str,
    context: CallContext[Any],
    seconds: float | None,
) -> Outcome:
    """The outcome of a function, however long its result is: with its secrets, and without them in what it says."""
    if vault is None or not tool.signature.secrets:
        outcome = await execute(tool, arguments, context, seconds)
    else:
        outcome = await _with_secrets(vault, tool, arguments, context, seconds)
    if policy.untrusted and outcome.origin is None and (outcome.fault is None or outcome.fault.kind not in HARMLESS):
        return replace(outcome, origin=tool.name)
    return outcome


async def _with_secrets(
    vault: Vault, tool: Tool, arguments: str, context: CallContext[Any], seconds: float | None
) -> Outcome:
    """The outcome of a function that gets secrets, without them."""
    try:
        secrets = await vault.fetch(tool)
    except Exception as error:
        advice.warn(f"tool {tool.name!r} was not run: a secret it needs cannot be had: {words(error)}")
        return failed("not_run", "a secret that it needs is not there", "Tell the user; it is for the host to mend.")
    context = replace(context, tell=vault.quiet(context.tell))
    return vault.clean(await execute(tool, arguments, context, seconds, secrets))


def notice_reuse(toolbox: Toolbox, call: Call, source: str) -> None:
    """A call gets the result of an earlier one: its author may not have meant that, if it was asked for in another round."""
    tool = toolbox.get(call.name)
    if tool is not None and source.rpartition("-")[0] != call.id.rpartition("-")[0]:
        noticing.reused(tool)


async def _cached(cache: ResultCache, call: Call, run: Callable[[], Awaitable[Outcome]]) -> tuple[Outcome, str | None]:
    """The outcome, and the call of an earlier turn it comes from if it was kept since then."""
    if not call.reads:
        with cache.writing():
            return await run(), None
    seconds = call.policy.cache
    if seconds is None:
        return await run(), None
    if found := cache.get(call.digest):
        return found.outcome, found.call
    reading = cache.reading()
    outcome = await run()
    if outcome.fault is None and not outcome.cut:  # the rest of what was cut is kept for one session only
        cache.put(call.digest, outcome, call.id, seconds, reading)
    return outcome, None
