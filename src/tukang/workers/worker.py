"""A worker: runs turns that were submitted, several at a time, until it is stopped.

How long a dead worker goes unnoticed is one number, `takeover`. A worker is given up, and a session's lease runs out, after
half of it without a sign of life; each gives such a sign, looks for the others' and looks for work every sixth of it. So five
sixths are the longest that a turn can lie, and the rest is for the database.

What a turn does is not decided here: it is begun, or gone on with, or found finished (`Agent.start` with its id), and this
file says what that means for the job.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from procrastinate.job_context import JobContext

from tukang.agent import Agent
from tukang.errors import ConfigurationError
from tukang.memory.stores.addresses import store_at
from tukang.memory.stores.errors import LeaseLostError, StoreError
from tukang.running import Running, TurnLeftError
from tukang.tools.failure import without_secrets, words
from tukang.workers.connecting import explaining
from tukang.workers.fetching import fetching
from tukang.workers.jobs import Jobs
from tukang.workers.mending import mend
from tukang.workers.queue import TASK, Queue, check_name, patiently, queue_of
from tukang.workers.values import Again, Done, Failed, Outcome, Submitted, Waits

logger = logging.getLogger("tukang.workers")

_LONGEST_PAUSE = 60.0
_DATABASE = 2.0
"""Seconds before a turn is tried again when the database was the reason."""


class Worker:
    """Runs the turns of some agents.

    Args:
        store: `postgresql://…`: where sessions are kept and turns are queued.
        agents: what it runs. Their names are what turns are submitted for, so each has its own.
        slots: how many turns at a time.
        takeover: seconds within which the turns of a worker that died go on elsewhere, given a worker with a free slot.
        tries: how many times a turn may end badly (an error of ours, a worker that died) before it has failed for good.
        grace: seconds that turns get when the worker is stopped. In the first half they may finish. Then they are handed
            over, each as soon as no function is under way that must not be run twice; in the end whatever is under way.
        callers: by an agent's name, what makes a turn's context of the JSON that was submitted as such; without one the JSON
            is the context.
        name: what it is called; by default `host:pid`.
        redact: the last word on every text before it is written; see `Agent.session`.

    Raises:
        ConfigurationError: the store is no Postgres; there are no agents, or two of one name; a number makes no sense.
    """

    def __init__(
        self,
        store: str,
        agents: Iterable[Agent],
        *,
        slots: int = 8,
        takeover: float = 30.0,
        tries: int = 5,
        grace: float = 20.0,
        callers: Mapping[str, Callable[[Any], Any]] | None = None,
        name: str | None = None,
        redact: Callable[[str], str] | None = None,
    ) -> None:
        self._agents = _by_name(agents)
        if slots < 1 or tries < 1 or takeover <= 0 or grace < 0:
            raise ConfigurationError(
                "slots and tries are at least 1, takeover is more than 0, and grace is not negative"
            )
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._queue = Queue(store)
        self._store = store_at(store)
        self._silence, self._pulse = takeover / 2, takeover / 6
        self._tries = tries
        self._grace = grace
        self._callers = callers or {}
        self._redact = redact
        self._jobs = Jobs(self._queue, self.name, list(self._agents), slots)
        self._running: set[Running[Any]] = set()
        self._leaving = self._at_once = False
        self._draining: asyncio.Task[None] | None = None
        queues = [queue_of(agent) for agent in self._agents]
        self._worker = fetching(self._queue, self._jobs, TASK, self._try, queues, self.name, slots, takeover)

    @property
    def store(self) -> str:
        """The store's address, without a password."""
        return self._queue.name

    async def run(self) -> None:
        """Run turns until `stop` was called and those that were running have finished or were handed over. Once.

        Raises:
            StoreError: at the start, the database cannot be used, or not be reached for a while. Later it waits for it.
        """
        await patiently(self._queue.open)
        beating = asyncio.create_task(self._beat())
        try:
            if self._draining is None:  # else it was stopped before it began
                with explaining(self._queue.address):
                    await self._worker.run()
        finally:
            for task in (beating, self._draining):
                if task is not None:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
            await self._queue.close()
            await self._store.close()

    def stop(self) -> None:
        """Take no more turns, and end within `grace`. Called again: at once. Call it on the event loop the worker runs on."""
        self._worker.stop()
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        else:
            self._leave(at_once=True)

    async def _drain(self) -> None:
        await asyncio.sleep(self._grace / 2)
        self._leave(at_once=False)
        await asyncio.sleep(self._grace / 2)
        self._leave(at_once=True)

    def _leave(self, *, at_once: bool) -> None:
        self._leaving, self._at_once = True, at_once
        for running in self._running:
            running.leave(at_once=at_once)

    async def _beat(self) -> None:
        """Heartbeats, also while the worker is stopping and its last turns are running."""
        while True:
            await asyncio.sleep(self._pulse)
            try:
                await self._jobs.beat()
                await self._jobs.rescue(self._silence, self._tries)
                await mend(self._queue, self._store)
            except StoreError as error:
                logger.warning("no heartbeat: %s", error)

    # ── one try of one turn ──────────────────────────────────────────────────────────────────────────────────────────

    async def _try(self, context: JobContext, turn: str) -> None:
        self._jobs.say(context.job, await self._outcome(turn))

    async def _outcome(self, turn: str) -> Outcome:
        faults = 0
        try:
            submitted = await self._queue.submitted(turn)
            if submitted is None:  # it had finished, and only the word of it was lost
                return Done()
            faults = submitted.faults
            return await self._run(submitted)
        except (TurnLeftError, LeaseLostError):
            return Again()
        except ConfigurationError as error:
            return Failed(without_secrets(str(error)))
        except StoreError as error:
            if error.kind in ("unavailable", "locked"):
                return Again(_DATABASE)
            return self._fault(turn, error, faults)
        except (Exception, SystemExit) as error:
            return self._fault(turn, error, faults)

    async def _run(self, submitted: Submitted) -> Outcome:
        agent, asked = self._agents[submitted.agent], submitted.asked
        chat = agent.session(submitted.session, store=self._store, lease=self._silence, redact=self._redact)
        running = agent.start(
            asked.message,
            turn=submitted.turn,
            session=chat.session,
            context=self._callers.get(agent.name, _as_it_is)(asked.context),
            tool_choice=asked.tool_choice,
            limits=asked.limits,
        )
        self._running.add(running)
        if self._leaving:
            running.leave(at_once=self._at_once)
        try:
            answer = await running.answer()
        finally:
            self._running.discard(running)
        logger.info("turn %s (%s): %s", submitted.turn, agent.name, answer.stopped)
        return Waits() if answer.stopped == "waiting" else Done()

    def _fault(self, turn: str, error: BaseException, faults: int) -> Outcome:
        why = words(error)
        logger.warning("turn %s: %s", turn, why)
        return Failed(why) if faults + 1 >= self._tries else Again(min(2.0**faults, _LONGEST_PAUSE), why)


def _by_name(agents: Iterable[Agent]) -> dict[str, Agent]:
    found: dict[str, Agent] = {}
    for agent in agents:
        check_name(agent.name)
        if agent.name in found:
            raise ConfigurationError(
                f"two agents are called {agent.name!r}: turns are submitted by the agent's name, so give each its own, as in "
                "Agent(name='toko')"
            )
        found[agent.name] = agent
    if not found:
        raise ConfigurationError("a worker needs at least one agent to run")
    return found


def _as_it_is(context: Any) -> Any:
    return context
