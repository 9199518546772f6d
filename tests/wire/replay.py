"""Feeds recorded responses to the adapters' decoders and compares what comes out with what was expected.

    python -m tests.wire.replay FILE… [--all] [--cuts N] [--every BYTES]

The protocol is told by the file's name (`openai_chat.jsonl`, `openai_chat_compat_new.jsonl`). Each line is one exchange:
`response` (`status`, `headers`, `body` or `body_b64`) and `expect` (`text`, `thinking`, `tool_calls`, `finish`, `usage`,
`error`, and `refusal` where it was looked at). Every response is fed whole, and cut at places drawn from a fixed seed;
streams also byte by byte, and the short ones in two at every single place. Each difference is printed; the last line is
`N of M rows extracted exactly`; the exit status is 1 on any difference and 2 for a file that cannot be used.

Rows on which the vendor's own SDK does not agree with the recorder (`sdk_agrees: false`), or that no SDK could read (`null`:
all of `bedrock_invoke`), are read as the house thinks right. They are counted apart; where one departs from `expect`, it is
listed. `--all` counts them like the others. What is done with each of them, and why, stands in `disputed.toml`.
This file reads files and prints; it opens no connection.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from tests.wire import anthropic, bedrock, chat, gemini, ollama, responses
from tests.wire.extracted import Extracted
from tests.wire.recordings import Unusable, body_of, lines, protocol_of

SINGLE_CUTS = 1500
"""Streams of at most this many bytes are cut in two at every place, unless `--every` says otherwise."""


class Protocol(msgspec.Struct, frozen=True):
    """How the rows of one protocol are read.

    Args:
        decode: status, headers and pieces of a body in; what the adapter makes of it out.
        expected: what a row expects, in the house's words.
    """

    decode: Callable[[int, Mapping[str, str], Iterable[bytes]], Extracted]
    expected: Callable[[Mapping[str, Any]], Extracted]


PROTOCOLS: Mapping[str, Protocol] = {
    "anthropic": Protocol(anthropic.decode, anthropic.expected),
    "bedrock_converse": Protocol(bedrock.decode_converse, bedrock.expected_converse),
    "bedrock_invoke": Protocol(bedrock.decode_invoke, bedrock.expected_invoke),
    "gemini": Protocol(gemini.decode, gemini.expected),
    "ollama": Protocol(ollama.decode, ollama.expected),
    "openai_chat": Protocol(chat.decode, chat.expected),
    "openai_chat_compat": Protocol(chat.decode, chat.expected),
    "openai_responses": Protocol(responses.decode, responses.expected),
    "openai_responses_compat": Protocol(responses.decode, responses.expected),
}


class Outcome(msgspec.Struct, frozen=True):
    """What became of one file: rows counted, rows exact, the same for the rows that are counted apart, and lines to print."""

    rows: int
    exact: int
    apart: int
    exact_apart: int
    differences: tuple[str, ...]
    departures: tuple[str, ...]


def replay(path: Path, *, count_all: bool = False, cuts: int = 3, every: int = SINGLE_CUTS, small: int = 1) -> Outcome:
    """Replay one file.

    Args:
        path: a file of JSON lines.
        count_all: count the rows on which the SDK does not agree too.
        cuts: how many times each response is cut at places drawn by chance, with a fixed seed.
        every: streams up to this many bytes are cut in two at every place.
        small: every Nth row is cut at every place and byte by byte, the others by chance only.

    Raises:
        Unusable: there is no such file, or no adapter for it.
    """
    protocol = PROTOCOLS[protocol_of(path, PROTOCOLS)]
    rows = exact = apart = exact_apart = 0
    differences: list[str] = []
    departures: list[str] = []
    for number, row in enumerate(lines(path)):
        counted = count_all or bool(row.get("sdk_agrees", True))
        found = compare(protocol, row, cuts=cuts, every=every, small=number % small == 0)
        rows += counted
        exact += counted and not found
        apart += not counted
        exact_apart += not counted and not found
        (differences if counted else departures).extend(found)
    return Outcome(rows, exact, apart, exact_apart, tuple(differences), tuple(departures))


def compare(
    protocol: Protocol, row: Mapping[str, Any], *, cuts: int = 3, every: int = SINGLE_CUTS, small: bool = True
) -> list[str]:
    """How what is extracted from one row differs from what it expects; one line for each difference."""
    response = row["response"]
    body = body_of(response)
    expected = protocol.expected(row)
    for cut, pieces in _ways_to_cut(body, str(row["id"]), cuts, every, small):
        got = protocol.decode(response["status"], response.get("headers") or {}, pieces)
        found = expected.differences(got)
        if found:
            return [f"{row['id']} ({cut}): {difference}" for difference in found]
    return []


def _ways_to_cut(body: bytes, seed: str, cuts: int, every: int, small: bool) -> Iterator[tuple[str, Sequence[bytes]]]:
    yield "whole", [body]
    for number in range(cuts):
        chance = random.Random(f"{seed}/{number}")
        places = sorted(chance.choices(range(len(body) + 1), k=chance.randint(1, 40)))
        ends = [0, *places, len(body)]
        yield f"cut by chance, {number}", [body[start:end] for start, end in pairwise(ends)]
    if not small or (body.lstrip().startswith(b"{") and b"\n{" not in body):
        return  # neither a stream of events nor one of lines: the pieces are only joined
    yield "byte by byte", [body[place : place + 1] for place in range(len(body))]
    if len(body) <= every:
        for place in range(1, len(body)):
            yield f"cut at {place}", [body[:place], body[place:]]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.wire.replay", description="Replay recorded responses.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--all", action="store_true", help="count the rows on which the vendor's SDK does not agree")
    parser.add_argument("--cuts", type=int, default=3, help="how often each response is cut by chance (3)")
    parser.add_argument("--every", type=int, default=SINGLE_CUTS, help="cut streams up to this size at every place")
    options = parser.parse_args(arguments)
    rows = exact = apart = exact_apart = 0
    for path in options.files:
        try:
            outcome = replay(path, count_all=options.all, cuts=options.cuts, every=options.every)
        except Unusable as fault:
            print(fault, file=sys.stderr)
            return 2
        for line in outcome.differences:
            print(f"DIFFERENCE {line}")
        for line in outcome.departures:
            print(f"on purpose, not counted (see disputed.toml): {line}")
        if len(options.files) > 1:
            print(f"{path.name}: {outcome.exact} of {outcome.rows}")
        rows += outcome.rows
        exact += outcome.exact
        apart += outcome.apart
        exact_apart += outcome.exact_apart
    if apart:
        print(
            f"{exact_apart} of {apart} rows that the vendor's SDK does not vouch for, counted apart (see disputed.toml)"
        )
    print(f"{exact} of {rows} rows extracted exactly")
    return 0 if exact == rows else 1


if __name__ == "__main__":
    sys.exit(main())
