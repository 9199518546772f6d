"""Runs recorded loops through the real driver, over a transport that opens no connection, and compares what is sent.

    python -m tests.wire.loops FILE… [--accepted FILE] [--verbose]

The protocol is told by the file's name (`anthropic.jsonl`, `openai_chat_new.jsonl`). Each line is one loop: its `steps` hold
`url`, `request`, `response` and `tool_calls`. An agent with the adapter of that protocol and the recorded tools gets the
recorded question; step i is answered with the recorded response, and the tools return the recorded results. From then on
every request must equal the recorded one, as JSON, in all that was added to the conversation since the turn began: the
assistant's words, calls with ids and arguments, echoed thinking, results, and their order. What stood before the turn is not
compared. A recorded request that leaves the history to the server (`previous_response_id`, `conversation`) is compared with
the end of ours. Where the provider ran tools itself, what it ran goes back like the rest, and are steps of the turn: each
call of a response, with whether it has a result.

Each difference is printed; the last line is `N of M loops matched`. A difference of a kind that `loops_accepted.toml` lists
with its reason does not count; `--verbose` prints those, too. The exit status is 1 on any other difference, and 2 for a
file that cannot be used.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.wire.forms import FORMS
from tests.wire.forms.reading import Form, Json, Result, Tool
from tests.wire.loop_transport import Transport
from tests.wire.loops_accepting import ABSENT, Difference, Rule, places, read_rules, rule_for
from tests.wire.recordings import Unusable, body_of, lines, protocol_of
from tukang import Agent, Answer, CallContext, Limits, Settings, tool

ACCEPTED = Path(__file__).with_name("loops_accepted.toml")
LIMITS = Limits(rounds=1000, seconds=60.0, calls=1000, faults=1000, attempts=1, continuations=0)
"""A recording ends by itself; none of our own limits may end it before."""

_SERVER_HISTORY = ("previous_response_id", "conversation")


class Outcome(msgspec.Struct, frozen=True):
    """What became of one file.

    Args:
        loops: how many were run.
        matched: how many of them without a difference that counts.
        served: in how many of them the provider ran tools itself.
        differences: those that count.
        accepted: those that do not, each with the kind it is of.
    """

    loops: int
    matched: int
    served: int
    differences: tuple[Difference, ...]
    accepted: tuple[tuple[str, Difference], ...]


def run_file(path: Path, rules: Sequence[Rule] = ()) -> Outcome:
    """Run every loop of a file.

    Raises:
        Unusable: there is no such file, no adapter for it, or a line is not a loop.
    """
    protocol = protocol_of(path, FORMS)
    form = FORMS[protocol]
    loops = matched = served = 0
    counting: list[Difference] = []
    accepted: list[tuple[str, Difference]] = []
    for loop in lines(path):
        served += served_by_provider(form, loop)
        faults = 0
        for difference in compare(form, loop):
            rule = rule_for(rules, protocol, difference)
            if rule is None:
                faults += 1
                counting.append(difference)
            else:
                accepted.append((rule.kind, difference))
        loops += 1
        matched += not faults
    return Outcome(loops, matched, served, tuple(counting), tuple(accepted))


def served_by_provider(form: Form, loop: Json) -> bool:
    """Whether the provider itself ran a tool in this loop."""
    return any(form.served.search(body_of(step["response"]).decode("utf-8", "replace")) for step in loop["steps"])


def compare(form: Form, loop: Json) -> list[Difference]:
    """How the requests of a loop, when we run it, differ from the recorded ones."""
    steps: Sequence[Json] = loop["steps"]
    transport = Transport([step["response"] for step in steps])
    answer = asyncio.run(_run(form, steps, transport))
    found: list[Difference] = []
    for place, step in enumerate(steps[1:], 1):
        if place >= len(transport.sent):
            why = answer.error or answer.stopped
            return [*found, Difference(loop["id"], place + 1, "request", "sent", f"{ABSENT}: the turn ended: {why}")]
        recorded = _added(form, steps[0]["request"], step["request"])
        ours = _added(form, transport.sent[0], transport.sent[place])
        if any(step["request"].get(name) for name in _SERVER_HISTORY):
            ours = ours[len(ours) - len(recorded) :]
        found += [Difference(loop["id"], place + 1, *one) for one in places(recorded, ours, "messages")]
    found += [Difference(loop["id"], 0, *one) for one in places(_ran(form, steps), _steps(answer), "steps")]
    if len(transport.sent) > len(steps) and not steps[-1]["tool_calls"] and steps[-1]["response"]["status"] < 300:
        found.append(Difference(loop["id"], len(steps) + 1, "request", ABSENT, "sent"))
    return found


def _ran(form: Form, steps: Sequence[Json]) -> list[Any]:
    """What the responses show that the provider ran."""
    bodies = [body_of(step["response"]).decode("utf-8", "replace") for step in steps]
    return [(one.tool, one.answered) for body in bodies for one in form.ran(body)]


def _steps(answer: Answer) -> list[Any]:
    unknown = "outcome_unknown"
    served = [step for step in answer.steps if step.served]
    return [(step.tool, step.fault is None or step.fault.kind != unknown) for step in served]


async def _run(form: Form, steps: Sequence[Json], transport: Transport) -> Answer:
    """Run one recorded loop as a turn."""
    first = steps[0]["request"]
    tools = {one.name: one for step in steps for one in form.tools(step["request"])}
    agent = Agent(
        form.model(steps[0], transport.session),
        form.instructions(first),
        tools=[_tool(one, _Results(form, steps)) for one in tools.values()],
        limits=LIMITS,
        settings=Settings(max_tokens=first.get("max_tokens"), extra=form.own(first)),
        preamble=False,
    )
    return await agent.arun("the recorded question")


class _Results:
    """What the recorded tools returned, found by the round and the position of a call."""

    def __init__(self, form: Form, steps: Sequence[Json]) -> None:
        self._form = form
        self._steps = steps

    def of(self, call_id: str) -> Result | None:
        """The result of a call; None where it was not recorded."""
        turn_round, position = (int(number) for number in call_id.rsplit("-", 2)[1:])
        if turn_round >= len(self._steps):
            return None
        asked = self._steps[turn_round - 1]["tool_calls"]
        results = self._form.results(self._steps[turn_round]["request"])
        if position >= len(asked):
            return None
        wire_id = asked[position].get("id")
        if wire_id in results:
            return results[wire_id]
        before = sum(len(step["tool_calls"]) for step in self._steps[: turn_round - 1])
        return results.get(str(before + position))


def _tool(recorded: Tool, results: _Results) -> Any:
    """A tool with the recorded contract that returns the recorded results."""

    @tool(effect="read", repeatable=True, name=recorded.name, description=recorded.description)
    async def serve(the_call: CallContext, **arguments: Any) -> Any:  # noqa: ARG001
        result = results.of(the_call.call_id)
        if result is None:
            return "not recorded"
        if result.fault:
            raise RuntimeError("the recorded tool failed")
        return result.content or ""

    schema = {"name": recorded.name, "description": recorded.description, "parameters": recorded.parameters}
    return schema, serve


def _added(form: Form, first: Json, request: Json) -> list[Json]:
    """What was added to the conversation after the first request."""
    before, now = form.messages(first), form.messages(request)
    if any(request.get(name) for name in _SERVER_HISTORY):
        return now
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return now[same:]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.wire.loops", description="Run recorded loops.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--accepted", type=Path, default=ACCEPTED, help="the rules (loops_accepted.toml)")
    parser.add_argument("--verbose", action="store_true", help="print the accepted differences, too")
    options = parser.parse_args(arguments)
    loops = matched = 0
    try:
        rules = read_rules(options.accepted)
        for path in options.files:
            outcome = run_file(path, rules)
            _print(path, outcome, verbose=options.verbose)
            loops += outcome.loops
            matched += outcome.matched
    except (Unusable, OSError, ValueError) as fault:
        print(fault, file=sys.stderr)
        return 2
    print(f"{matched} of {loops} loops matched")
    return 0 if matched == loops else 1


def _print(path: Path, outcome: Outcome, *, verbose: bool) -> None:
    for difference in outcome.differences:
        print(f"DIFFERENCE {difference}")
    if verbose:
        for kind, difference in outcome.accepted:
            print(f"accepted ({kind}): {difference}")
    kinds: Mapping[str, int] = Counter(kind for kind, _ in outcome.accepted)
    listed = "".join(f"; accepted: {number} × {kind}" for kind, number in kinds.items())
    own = f"; {outcome.served} with tools of the provider's own" if outcome.served else ""
    print(f"{path.name}: {outcome.matched} of {outcome.loops} loops{own}{listed}")


if __name__ == "__main__":
    sys.exit(main())
