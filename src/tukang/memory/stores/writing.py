"""Appending to the journal of a turn: the body of the transaction that everything stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tukang.loop.events import TurnFinished, TurnStarted
from tukang.memory.stores import waiting
from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import EventRow, storable
from tukang.memory.stores.errors import UnknownSessionError
from tukang.memory.stores.leasing import lost
from tukang.memory.stores.values import Lease, Offer
from tukang.runtime.journal import JournalConflictError

QUESTION = 200
"""Characters of what was asked that are kept beside a turn, for lists."""


class Batch(msgspec.Struct, frozen=True):
    """What is to be appended, encoded before the transaction begins.

    Args:
        turn: its id.
        expected: the number of the first event.
        at: the time of the last one.
        events: as rows.
        started: the event that begins the turn, if it is in the batch.
        finished: the event that ends it, if it is in the batch.
        messages: the turn's, as JSON, with `finished`.
        words: the turn's, with `finished`.
        offer, consume: as in `Store.append`.
    """

    turn: str
    expected: int
    at: float
    events: Sequence[EventRow]
    started: TurnStarted | None = None
    finished: TurnFinished | None = None
    messages: str | None = None
    words: Sequence[str] = ()
    offer: Sequence[Offer] = ()
    consume: Sequence[tuple[str, str]] = ()


def append(db: Database, lease: Lease, batch: Batch) -> int:
    """Append a batch, or raise and leave everything as it was. Returns the session's key.

    Raises:
        LeaseLostError, JournalConflictError, WaitError: as `Store.append` says.
    """
    row = db.one(
        f"SELECT key, token FROM tukang_sessions s WHERE id = :id {db.for_update}",
        id=lease.session,
    )
    if row is None or row[1] != lease.token:
        raise lost(lease)
    session = row[0]
    # only now, behind the lock: what another transaction did to the turn before is seen whole
    known = db.one("SELECT key, session, events, finished FROM tukang_turns WHERE id = :turn", turn=batch.turn)
    turn, home, count, finished = known or (None, session, 0, None)
    if home != session:
        raise JournalConflictError(f"turn {batch.turn} belongs to another session than {lease.session!r}")
    if turn is not None and count == batch.expected + len(batch.events) and _is_last(db, turn, batch):
        return session  # the same batch again: it was written, the answer was lost
    if finished is not None:
        raise JournalConflictError(f"turn {batch.turn} has finished; nothing can be appended to it")
    if count != batch.expected:
        raise JournalConflictError(f"turn {batch.turn}: expected {batch.expected} events in the journal, found {count}")
    if turn is None:
        turn = _begin(db, session, lease, batch)
    _write(db, turn, batch)
    waiting.offer(db, turn, batch.offer, batch.at)
    for kind, key in batch.consume:
        waiting.consume(db, kind, key, session=session, at=batch.at)
    if batch.started or batch.finished:  # not with each event: the column is indexed, for lists
        db.change("UPDATE tukang_sessions SET updated = :at WHERE key = :key", at=batch.at, key=session)
    return session


def keep_output(db: Database, lease: Lease, turn: str, handle: str, text: str, page: int) -> None:
    """Keep a long result with the turn it came up in.

    Raises:
        LeaseLostError: the lease is not the session's any more.
        UnknownSessionError: the session has no such turn.
    """
    row = db.one(
        f"SELECT key, token FROM tukang_sessions s WHERE id = :id {db.for_update}",
        id=lease.session,
    )
    if row is None or row[1] != lease.token:
        raise lost(lease)
    found = db.one("SELECT key FROM tukang_turns WHERE id = :turn AND session = :session", turn=turn, session=row[0])
    if found is None:
        raise UnknownSessionError(f"session {lease.session!r} has no turn {turn!r}")
    text = storable(text)
    db.change(
        """
        INSERT INTO tukang_outputs (handle, turn, page, whole, text) VALUES (:handle, :turn, :page, :whole, :text)
        ON CONFLICT (handle) DO UPDATE
        SET turn = excluded.turn, page = excluded.page, whole = excluded.whole, text = excluded.text
        """,
        handle=handle,
        turn=found[0],
        page=page,
        whole=len(text),
        text=text,
    )


def _is_last(db: Database, turn: int, batch: Batch) -> bool:
    """Whether the last events of the turn are these."""
    written = db.all(
        """
        SELECT version, kind, data FROM tukang_events
        WHERE turn = :turn AND number >= :number
        ORDER BY number
        """,
        turn=turn,
        number=batch.expected,
    )
    return [EventRow(*row) for row in written] == list(batch.events)


def _begin(db: Database, session: int, lease: Lease, batch: Batch) -> int:
    """Make the turn the session's last one; returns its key."""
    started = batch.started
    assert started is not None, "a batch with number 0 begins with TurnStarted"
    unfinished = db.one("SELECT id FROM tukang_turns WHERE session = :key AND finished IS NULL", key=session)
    if unfinished is not None:
        raise JournalConflictError(
            f"turn {unfinished[0]} of session {lease.session!r} has not finished; end it before another one begins"
        )
    turn = db.insert(
        """
        INSERT INTO tukang_turns (id, session, agent, question, started, updated, events)
        VALUES (:id, :session, :agent, :question, :started, :started, 0)
        RETURNING key
        """,
        id=batch.turn,
        session=session,
        agent=storable(started.agent),
        question=storable(" ".join(started.trigger.text[:QUESTION].split())),
        started=started.at,
    )
    add_to_history(db, session, turn)
    return turn


def add_to_history(db: Database, session: int, turn: int) -> None:
    """Make a turn the session's last one."""
    db.change(
        """
        INSERT INTO tukang_history (session, number, turn)
        SELECT :session, coalesce(max(number), 0) + 1, :turn FROM tukang_history WHERE session = :session
        """,
        session=session,
        turn=turn,
    )


def _write(db: Database, turn: int, batch: Batch) -> None:
    add_events(db, turn, batch.expected, batch.events)
    end: dict[str, Any] = {"finished": None, "stopped": None, "messages": None}
    if batch.finished is not None:
        end = {"finished": batch.finished.at, "stopped": batch.finished.stopped, "messages": batch.messages}
        db.add_words(turn, batch.words)
    db.change(
        """
        UPDATE tukang_turns
        SET events = :events, updated = :at, finished = :finished, stopped = :stopped, messages = :messages
        WHERE key = :turn
        """,
        events=batch.expected + len(batch.events),
        at=batch.at,
        turn=turn,
        **end,
    )


def add_events(db: Database, turn: int, first: int, events: Sequence[EventRow]) -> None:
    """Write events, numbered from `first`."""
    db.many(
        "INSERT INTO tukang_events (turn, number, version, kind, data) VALUES (:turn, :number, :version, :kind, :data)",
        [
            {"turn": turn, "number": number, "version": event.version, "kind": event.kind, "data": event.data}
            for number, event in enumerate(events, first)
        ],
    )
