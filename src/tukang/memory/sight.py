"""How far a session's turns look back: reads what a window shows, and sees to it that the summary is up to date.

It is asked once for each turn, when the turn has the floor; what it gives stays the same for the whole turn. It never raises
for the sake of a summary: what cannot be summed up now is left out, and tried again later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

import msgspec

from tukang.conversation import Message
from tukang.errors import ConfigurationError, TukangError
from tukang.memory.fitting import fitted
from tukang.memory.measuring import tokens
from tukang.memory.past import Past, PastTurn
from tukang.memory.recall import Current, search_tool
from tukang.memory.steps import enough, outgrown
from tukang.memory.stores.values import Kept
from tukang.memory.summarising import Summariser
from tukang.memory.window import Digest, Seen, Window, before, room_before, sizes
from tukang.runtime.journal import JournalConflictError
from tukang.tools.tool import Tool

SUMMARY = "summary"
PIN = "pin:"
"""Names under which these are kept with a session; a pin's goes on with the turn's id."""

EVERYTHING = Window(tokens=None)
"""The window of who says nothing about one: all that was said. An agent's sessions have a bound; see `window.TOKENS`."""

_log = logging.getLogger("tukang")


class Outlook(msgspec.Struct, frozen=True):
    """What a turn is shown of its session.

    Args:
        history: what is sent of the turns before.
        fit: from the running turn's messages to those of them that are sent; None for all.
        running: where `fit` leaves what it was given.
    """

    history: tuple[Message, ...]
    fit: Callable[[Sequence[Message]], Sequence[Message]] | None
    running: Current


class Sight:
    """A window, and all it needs to be looked through. Of no session: any number of them may share one.

    Args:
        window: the policy.
        seen: how what is old is shown.
        summariser: writes the summary, where the window wants one.
    """

    def __init__(self, window: Window, seen: Seen | None = None, summariser: Summariser | None = None) -> None:
        self._window = window
        self._seen = seen or Seen()
        self._summariser = summariser

    def tools(self, past: Past) -> tuple[Tool, ...]:
        """What a model gets to look back with, if the window says so."""
        return (search_tool(past, self._seen.language),) if self._window.recall else ()

    async def over(self, past: Past) -> Outlook:
        """What the next turn is shown.

        Raises:
            StoreError: the session cannot be read.
        """
        window, seen = self._window, self._seen
        kept = await past.kept()
        pins = await _pinned(past, kept)
        room = room_before(window, pins, seen)
        if self._summariser is None:
            digest = None
            turns = await past.newest(lambda found: enough(sizes(found, seen), room, window.turns))
        else:
            digest = _digest(kept.get(SUMMARY))
            turns = await past.newest(lambda _: False, digest.upto if digest else 0)
            digest, turns = await self._summed_up(self._summariser, past, kept.get(SUMMARY), turns, room)
        history = before(turns, window, pins=pins, digest=digest, seen=seen)
        return self._outlook(history)

    async def pin(self, past: Past, turn: str, pinned: bool) -> None:
        """Have a turn always sent, or no more.

        Raises:
            ConfigurationError: there is no such turn, or what is pinned would take more than a quarter of the window.
            JournalConflictError: somebody pinned it at the same moment.
            StoreError: it cannot be written down.
        """
        found = await past.turn(turn)
        if found is None:
            raise ConfigurationError(f"the session has no finished turn {turn!r} to pin; `Answer.turn` is a turn's id")
        kept = await past.kept()
        if pinned and self._window.tokens is not None:
            pins = {one.id: one for one in [*await _pinned(past, kept), found]}
            size = sum(one.short for one in sizes(list(pins.values()), self._seen)) + tokens(self._window.pinned)
            if size > self._window.tokens // 4:
                raise ConfigurationError(
                    f"with turn {turn!r} what is pinned would take {size} of the window's {self._window.tokens} tokens; a "
                    "quarter is the most: let another go, or give the window more"
                )
        await past.keep(Kept(PIN + turn, found.number, pinned), kept.get(PIN + turn))

    def _outlook(self, history: tuple[Message, ...]) -> Outlook:
        running, seen, bound = Current(), self._seen, self._window.tokens
        if bound is None:
            return Outlook(history, None, running)
        room = max(bound // 4, bound - tokens(history))

        def fit(messages: Sequence[Message]) -> Sequence[Message]:
            running.messages = messages
            return fitted(messages, room, seen)

        return Outlook(history, fit, running)

    async def _summed_up(
        self,
        summariser: Summariser,
        past: Past,
        kept: Kept | None,
        turns: Sequence[PastTurn],
        room: int | None,
    ) -> tuple[Digest | None, Sequence[PastTurn]]:
        """The summary, made longer if the turns behind it have outgrown the window, and the turns behind it then."""
        digest = _digest(kept)
        first = turns[0].number if turns else 1
        upto = outgrown(sizes(turns, self._seen), first, room, self._window.turns)
        if upto is None or summariser.rests:
            return digest, turns
        try:
            made = await summariser.added(digest, [turn for turn in turns if turn.number <= upto])
            await past.keep(Kept(SUMMARY, made.upto, {"text": made.text}), kept)
        except JournalConflictError:  # somebody was faster: theirs is as good
            made = _digest((await past.kept()).get(SUMMARY)) or digest
        except Exception as error:  # whatever it is, the turn goes on: a model, an adapter, a store
            what = error if isinstance(error, TukangError) else f"{type(error).__name__} {error}"
            _log.warning("the conversation could not be summed up, and goes on with what is there: %s", what)
            return digest, turns
        return made, [turn for turn in turns if made is None or turn.number > made.upto]


def _digest(kept: Kept | None) -> Digest | None:
    """A summary as it is kept; None for what is none."""
    match kept:
        case Kept(upto=upto, data={"text": str(text)}) if text:
            return Digest(upto, text)
        case _:
            return None


async def _pinned(past: Past, kept: Mapping[str, Kept]) -> list[PastTurn]:
    """The pinned turns, in order."""
    names = [name for name, value in kept.items() if name.startswith(PIN) and value.data is True]
    found = [await past.turn(name.removeprefix(PIN)) for name in names]
    return sorted((turn for turn in found if turn is not None), key=lambda turn: turn.number)
