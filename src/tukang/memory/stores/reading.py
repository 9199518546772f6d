"""Reading turns and sessions. Bodies of transactions that change nothing."""

from __future__ import annotations

from typing import Any

from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import EventRow, messages_of, value_of
from tukang.memory.stores.errors import UnknownSessionError
from tukang.memory.stores.values import Hit, Kept, OpenTurn, Position, SessionInfo, StoredTurn
from tukang.memory.stores.words import excerpt, words_of
from tukang.tools.outputs import Slice

_SESSION = """
    SELECT s.id, count(h.turn), t.agent, t.question, s.created, s.updated, o.id, s.holder, s.expires, s.origin
    FROM tukang_sessions s
    LEFT JOIN tukang_history h ON h.session = s.key
    LEFT JOIN tukang_turns t
        ON t.key = (SELECT l.turn FROM tukang_history l WHERE l.session = s.key ORDER BY l.number DESC LIMIT 1)
    LEFT JOIN tukang_turns o ON o.session = s.key AND o.finished IS NULL
"""
_GROUPED = "GROUP BY s.key, t.key, o.key"
_TURN = "t.id, h.number, t.agent, t.started, t.events, t.finished, t.stopped, t.messages"


def session_key(db: Database, session: str) -> int:
    """A session's own number.

    Raises:
        UnknownSessionError: there is none of that name.
    """
    row = db.one("SELECT key FROM tukang_sessions WHERE id = :id", id=session)
    if row is None:
        raise UnknownSessionError(f"there is no session {session!r} in this store")
    return row[0]


def turn_key(db: Database, turn: str) -> tuple[int, int | None]:
    """A turn's own number, and that of the session it was run in, if it is there still.

    Raises:
        UnknownSessionError: there is no such turn.
    """
    row = db.one("SELECT key, session FROM tukang_turns WHERE id = :id", id=turn)
    if row is None:
        raise UnknownSessionError(f"there is no turn {turn!r} in this store")
    return row[0], row[1]


# ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def events(db: Database, turn: str, after: int) -> tuple[list[EventRow], bool]:
    """The turn's events behind the first `after`, and whether there will be no more.

    Raises:
        UnknownSessionError: there is no such turn.
    """
    row = db.one("SELECT key, finished FROM tukang_turns WHERE id = :id", id=turn)
    if row is None:
        raise UnknownSessionError(f"there is no turn {turn!r} in this store")
    return events_of(db, row[0], after), row[1] is not None


def events_of(db: Database, turn: int, after: int = 0) -> list[EventRow]:
    """The events of the turn with this key."""
    rows = db.all(
        "SELECT version, kind, data FROM tukang_events WHERE turn = :turn AND number >= :after ORDER BY number",
        turn=turn,
        after=after,
    )
    return [EventRow(*row) for row in rows]


def news(db: Database, session: str, after: Position) -> list[tuple[int, list[EventRow]]]:
    """What a session has behind a position: (number of the turn, its events), of a few turns at a time.

    Raises:
        UnknownSessionError: there is no such session.
    """
    rows = db.all(
        """
        SELECT number, turn FROM tukang_history
        WHERE session = :session AND number >= :number
        ORDER BY number
        LIMIT 20
        """,
        session=session_key(db, session),
        number=after.turn,
    )
    read = [(number, events_of(db, turn, after.event if number == after.turn else 0)) for number, turn in rows]
    return [(number, found) for number, found in read if found]


def output(db: Database, session: str, handle: str, offset: int) -> Slice | None:
    """A page of a kept result and one character more; None when the session has no such result."""
    row = db.one(
        """
        SELECT substr(o.text, CAST(:start AS INTEGER), CAST(o.page + 1 AS INTEGER)), o.whole, o.page
        FROM tukang_outputs o
        JOIN tukang_history h ON h.turn = o.turn
        JOIN tukang_sessions s ON s.key = h.session
        WHERE s.id = :session AND o.handle = :handle
        """,
        start=offset + 1,
        session=session,
        handle=handle,
    )
    return None if row is None else Slice(row[0], offset, row[1], row[2])


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def turns(db: Database, session: str, last: int | None, after: int, finished_only: bool) -> list[StoredTurn]:
    """Turns of a session, oldest first."""
    found = db.all(
        f"""
        SELECT {_TURN}
        FROM tukang_sessions s JOIN tukang_history h ON h.session = s.key JOIN tukang_turns t ON t.key = h.turn
        WHERE s.id = :session AND h.number > :after {"AND t.finished IS NOT NULL" if finished_only else ""}
        ORDER BY h.number DESC
        {"" if last is None else "LIMIT :last"}
        """,
        session=session,
        after=after,
        **({} if last is None else {"last": max(0, last)}),
    )
    return [_turn(row) for row in reversed(found)]


def turn(db: Database, turn: str, session: str | None = None) -> StoredTurn:
    """One turn; with a session, only one of that session.

    Raises:
        UnknownSessionError: there is no such turn.
    """
    row = db.one(
        f"""
        SELECT {_TURN}
        FROM tukang_turns t JOIN tukang_history h ON h.turn = t.key JOIN tukang_sessions s ON s.key = h.session
        WHERE t.id = :turn {"" if session is None else "AND s.id = :session"}
        ORDER BY CASE WHEN h.session = t.session THEN 0 ELSE 1 END, h.session
        """,
        turn=turn,
        **({} if session is None else {"session": session}),
    )
    if row is None:
        where = "this store" if session is None else f"session {session!r}"
        raise UnknownSessionError(f"there is no turn {turn!r} in {where}")
    return _turn(row)


def _turn(row: tuple[Any, ...]) -> StoredTurn:
    id, number, agent, started, count, finished, stopped, messages = row
    return StoredTurn(
        id=id,
        number=number,
        agent=agent,
        started=started,
        events=count,
        finished=finished,
        stopped=stopped,
        messages=messages_of(messages),
    )


def open_turns(db: Database, session: str | None, idle: bool) -> list[OpenTurn]:
    """Turns that have not finished, oldest first."""
    rows = db.all(
        f"""
        SELECT s.id, t.id, h.number, t.agent, t.started, t.updated, t.events,
            CASE WHEN s.expires > :now THEN s.holder END,
            (
                SELECT count(*) FROM tukang_waits w
                WHERE w.turn = t.key AND w.answered IS NULL AND (w.expires IS NULL OR w.expires > :now)
            )
        FROM tukang_turns t
        JOIN tukang_sessions s ON s.key = t.session
        JOIN tukang_history h ON h.session = s.key AND h.turn = t.key
        WHERE t.finished IS NULL {"" if session is None else "AND s.id = :session"}
        ORDER BY t.started, t.key
        """,
        now=db.now(),
        **({} if session is None else {"session": session}),
    )
    found = [OpenTurn(*row) for row in rows]
    return [one for one in found if not idle or (one.holder is None and one.waits == 0)]


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def sessions(db: Database, prefix: str, limit: int, before: float | None) -> list[SessionInfo]:
    """Sessions, the last used first."""
    now = db.now()
    rows = db.all(
        f"""
        {_SESSION}
        WHERE s.key IN (
            SELECT key FROM tukang_sessions
            WHERE substr(id, 1, :length) = :prefix {"" if before is None else "AND updated < :before"}
            ORDER BY updated DESC, key DESC
            LIMIT :limit
        )
        {_GROUPED}
        ORDER BY s.updated DESC, s.key DESC
        """,
        length=len(prefix),
        prefix=prefix,
        limit=limit,
        **({} if before is None else {"before": before}),
    )
    return [_session(row, now) for row in rows]


def session(db: Database, session: str) -> SessionInfo:
    """One session.

    Raises:
        UnknownSessionError: there is none of that name.
    """
    row = db.one(f"{_SESSION} WHERE s.id = :id {_GROUPED}", id=session)
    if row is None:
        raise UnknownSessionError(f"there is no session {session!r} in this store")
    return _session(row, db.now())


def _session(row: tuple[Any, ...], now: float) -> SessionInfo:
    id, count, agent, question, created, updated, open_turn, holder, expires, origin = row
    return SessionInfo(
        id=id,
        turns=count,
        agent=agent or "",
        question=question or "",
        created=created,
        updated=updated,
        open_turn=open_turn,
        holder=holder if expires > now else None,
        origin=origin,
    )


def kept(db: Database, session: str) -> dict[str, Kept]:
    """What is kept with a session, by name."""
    rows = db.all(
        """
        SELECT k.name, k.upto, k.data FROM tukang_kept k JOIN tukang_sessions s ON s.key = k.session
        WHERE s.id = :session ORDER BY k.name
        """,
        session=session,
    )
    return {name: Kept(name, upto, value_of(data)) for name, upto, data in rows}


def search(db: Database, session: str, query: str, limit: int) -> list[Hit]:
    """Finished turns that hold words of the query, the best first."""
    wanted = list(dict.fromkeys(words_of(query)))
    row = db.one("SELECT key FROM tukang_sessions WHERE id = :id", id=session)
    if row is None or not wanted:
        return []
    hits: list[Hit] = []
    for key in db.search(row[0], wanted, limit):
        found = db.one(
            """
            SELECT t.id, h.number, t.started, t.messages
            FROM tukang_history h JOIN tukang_turns t ON t.key = h.turn
            WHERE h.session = :session AND h.turn = :turn
            """,
            session=row[0],
            turn=key,
        )
        assert found is not None, "a read transaction sees one moment"
        hits.append(Hit(found[0], found[1], found[2], excerpt(messages_of(found[3]), wanted)))
    return hits
