"""The protocol of a store. What is written here is all that the rest may rely on; its values stand in `values`.

A store keeps **sessions**. A session is a row of **turns**, numbered from 1. A turn is its **events** (the journal) and,
when it has finished, the **messages** it added to the conversation. Messages are kept beside the events, once for each
turn, so that the next turn reads what was said and folds nothing. A fork shares the turns of its origin; nothing is copied.

Who may write: a turn runs under a **lease** on its session. Taking the lease raises the session's token, and every write
carries the token (a *fencing token*): a process that was believed dead, and is only slow, fails at its next write. A
lease that is not renewed in time may be taken over.

All times are seconds since the epoch on the store's own clock (SQLite: this machine's; Postgres: the server's). All
methods may be called from any event loop and any thread. Any of them raises `StoreError` when the database cannot do it
(see `errors`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Protocol

from tukang.conversation import Message
from tukang.loop.events import Event
from tukang.memory.gate import WhenBusy
from tukang.memory.stores.tasks import StoredTasks
from tukang.memory.stores.values import (
    START,
    Deleted,
    Hit,
    Kept,
    Lease,
    Offer,
    OpenTurn,
    Position,
    SessionInfo,
    StoredTurn,
    Wait,
)
from tukang.tools.outputs import Slice


class Store(Protocol):
    """Sessions, kept. See the top of this file for the words."""

    @property
    def name(self) -> str:
        """The store's address, without a password."""
        ...

    @property
    def tasks(self) -> StoredTasks:
        """Long work of its sessions, which outlives the turns that asked for it."""
        ...

    async def upgrade(self) -> tuple[int, ...]:
        """Bring the schema up to date; returns the numbers of the migrations that were applied now.

        Each migration is applied in a transaction, and two processes that do this at once do it once. SQLite does it by
        itself when a file is opened; Postgres wants to be asked (`tukang db upgrade`), and says `not_upgraded` until then.
        """
        ...

    async def close(self) -> None:
        """Give connections and threads back. What is called afterwards opens them again."""
        ...

    # ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def take(self, session: str, holder: str, seconds: float, when_busy: WhenBusy = "refuse") -> Lease:
        """Take the session's lease for `seconds`, and make the session if there is none.

        With `when_busy="wait"` this waits until the session is free or its lease has expired; cancelling stops the
        waiting. The order among those who wait is not kept across processes.

        Raises:
            SessionBusyError: somebody else holds it, and `when_busy` is `refuse`.
        """
        ...

    async def renew(self, lease: Lease, seconds: float) -> Lease:
        """Hold it for `seconds` from now: the heartbeat. An expired lease that nobody took may be renewed.

        Raises:
            LeaseLostError: somebody else has taken it, or the session is gone.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Give it back: who uses it afterwards gets `LeaseLostError`. Raises nothing for a lease that was lost already."""
        ...

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def append(
        self,
        lease: Lease,
        turn: str,
        events: Sequence[Event],
        expected: int,
        *,
        sync: bool = False,
        messages: Sequence[Message] | None = None,
        offer: Sequence[Offer] = (),
        consume: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Write all of `events`, as numbers `expected`, `expected + 1`, … of the turn, or nothing at all.

        The batch with number 0 begins with `TurnStarted` and makes the turn the last one of the session. The batch with
        `TurnFinished` closes it; nothing can be appended behind that.

        The same batch may be appended again at the same place, as its last: that is not an error and changes nothing. So
        an append that ended in `StoreError` kind `unavailable` (it may have been written, the answer was lost) can be
        tried again as it was. The store itself does that for as long as its `patience` says.

        Args:
            lease: the session's, from `take` or `renew`.
            turn: its id, unique in the store.
            events: at least one, as they are to be written: secrets are taken out before (see `memory.redaction`).
            expected: how many events the turn has so far.
            sync: return only when it is on the disk. Whoever starts a function that is not a read must ask for this.
                Without it a power cut (SQLite; not a crash of the process), or what the server is set to (Postgres), can
                take the last events.
            messages: what the turn added to the conversation; with `TurnFinished` and only then.
            offer: what the turn will wait for from now on; the same key again, by the same turn, changes nothing.
            consume: (kind, key) of the answered waits that this batch uses, in the same transaction.

        Raises:
            LeaseLostError: the session was taken over, renamed or deleted.
            JournalConflictError: the turn does not hold exactly `expected` events, or it is closed, or it is another
                session's, or another turn of the session is open.
            WaitError: one of `consume` is unknown, unanswered, or was consumed before; or an offered key belongs to
                another turn.
        """
        ...

    async def read(self, turn: str, after: int = 0) -> tuple[Event, ...]:
        """The turn's events behind the first `after`, brought up to this version's form.

        Raises:
            UnknownSessionError: there is no such turn.
        """
        ...

    def follow(self, turn: str, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """The turn's events as they are written, each with how many events there are up to and with it (what `after` takes).

        Ends behind `TurnFinished`. Any number of readers may follow; one that leaves changes nothing.

        Raises:
            UnknownSessionError: there is no such turn, or it was deleted meanwhile.
        """
        ...

    def follow_session(self, session: str, after: Position = START) -> AsyncIterator[tuple[Position, Event]]:
        """The events of all the session's turns as they are written, each with the position behind it. It does not end
        by itself.

        Raises:
            UnknownSessionError: there is no such session, or it was deleted or renamed meanwhile.
        """
        ...

    async def keep_output(self, lease: Lease, turn: str, handle: str, text: str, page: int) -> None:
        """Keep a result that was too long for the model, whole, with the turn it came up in; the same handle again
        replaces it.

        Args:
            text: as it is to be written: secrets are taken out before.
            page: characters that are read at a time.

        Raises:
            LeaseLostError: the session was taken over, renamed or deleted.
            UnknownSessionError: the session has no such turn.
        """
        ...

    async def read_output(self, session: str, handle: str, offset: int) -> Slice | None:
        """One page of a kept result and one character more, from this character on; None when the session has no such
        result."""
        ...

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def answer(self, kind: str, key: str, answer: Any, by: str = "") -> Wait:
        """Answer a wait, once; the first answer counts. Needs no lease: whoever may decide is elsewhere.

        Raises:
            WaitError: it is unknown, answered already, or expired.
        """
        ...

    async def until_answered(self, kind: str, key: str) -> Wait:
        """The wait, once somebody has answered it or it has expired; at once where that is so already. Cancelling stops it.

        Raises:
            WaitError: it is unknown, or was deleted meanwhile.
        """
        ...

    async def waits(
        self,
        kind: str | None = None,
        *,
        session: str | None = None,
        turn: str | None = None,
        key: str | None = None,
        open_only: bool = True,
    ) -> list[Wait]:
        """Waits, oldest first; with `open_only` those that nobody has answered, expired or not."""
        ...

    async def open_turns(self, session: str | None = None, *, idle: bool = False) -> list[OpenTurn]:
        """Turns that have not finished, oldest first. `idle`: only those that nobody is running and that wait for nothing."""
        ...

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def sessions(self, prefix: str = "", limit: int = 100, before: float | None = None) -> list[SessionInfo]:
        """Sessions, the last used first. `before`: only those whose `updated` is less: the next page."""
        ...

    async def session(self, session: str) -> SessionInfo:
        """One session.

        Raises:
            UnknownSessionError: there is none of that name.
        """
        ...

    async def turns(
        self, session: str, *, last: int | None = None, after: int = 0, finished_only: bool = True
    ) -> list[StoredTurn]:
        """The session's turns behind number `after`, oldest first; `last`: no more than so many, the newest ones.

        An unknown session has no turns.
        """
        ...

    async def turn(self, turn: str, session: str | None = None) -> StoredTurn:
        """One turn, by its id.

        Args:
            turn: its id.
            session: only if this session has it, and then `number` is its place there. None: `number` is its place in the
                session it was made in, or in the oldest that shares it.

        Raises:
            UnknownSessionError: there is no such turn.
        """
        ...

    async def search(self, session: str, query: str, limit: int = 10) -> list[Hit]:
        """Finished turns of the session that hold words of `query`, the best first.

        Words are compared without case and accents, as beginnings (`harga` finds `harganya`); any one of them is enough,
        more are better. What is searched is what was said and what tools returned.
        """
        ...

    async def keep(self, session: str, kept: Kept, replaces: Kept | None) -> None:
        """Keep a value with a session, in place of the one that `kept` gave before (None: there is none yet).

        Raises:
            JournalConflictError: another value is there: somebody was faster.
            UnknownSessionError: there is no such session.
        """
        ...

    async def kept(self, session: str) -> dict[str, Kept]:
        """What is kept with a session, by name."""
        ...

    async def fork(self, session: str, new: str, upto: int | None = None) -> SessionInfo:
        """A new session with the finished turns of another, up to number `upto` (None: all). Costs the same however long
        they are.

        Raises:
            UnknownSessionError: there is no such session, or no finished turn of that number.
            SessionExistsError: `new` is taken.
        """
        ...

    async def rename(self, session: str, new: str) -> SessionInfo:
        """Call a session by another name.

        Raises:
            UnknownSessionError: there is none of that name.
            SessionExistsError: `new` is taken.
            SessionBusyError: a turn holds it.
        """
        ...

    async def delete(self, session: str) -> Deleted:
        """Delete a session for good: its turns, events, messages, waits and search words. Turns that a fork shares
        remain there.

        SQLite overwrites what is deleted, in the file and in its log. Postgres makes the rows unreachable at once; the
        bytes go with its next vacuum.

        Raises:
            UnknownSessionError: there is none of that name.
            SessionBusyError: a turn holds it.
        """
        ...

    # ── backups ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def export(self, session: str | None = None) -> AsyncIterator[str]:
        """A session (None: all of them) as JSON, line by line, each without its line end. See `exporting` for the lines.

        Each session is read as it was at one moment. Equal stores give equal lines, whichever database they are on.

        Raises:
            UnknownSessionError: there is no such session.
        """
        ...

    async def load(self, lines: Iterable[str], *, skip_existing: bool = False) -> tuple[str, ...]:
        """Import an export; returns the ids of the sessions that were written. Each session is written whole or not at all.

        Args:
            lines: as `export` gave them.
            skip_existing: leave a session alone that is there already, instead of raising.

        Raises:
            SessionExistsError: a session of that name is there; those before it in the lines have been written.
            ImportFormatError: the lines are not an export, or were made by a newer version, or a turn differs from the
                same turn here.
        """
        ...
