"""Tasks in the database. Each function is the body of one transaction; what may follow what is not decided here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import storable, text_of
from tukang.memory.stores.leasing import first_token
from tukang.memory.stores.task_values import Move, NewTask, TaskLostError, TaskRow, TaskSpec, UnknownTaskError
from tukang.tools.long import FINAL, TaskState
from tukang.tools.outcome import Outcome

_COLUMNS = """
    t.id, s.id, t.agent, t.backend, t.spec, t.state, t.token, t.attempts, t.tries, t.lost, t.created, t.due, t.expires,
    t.holder, t.lease, t.percent, t.message, t.cancel, t.began, t.finished, t.outcome, t.woken
"""
_FROM = "FROM tukang_tasks t JOIN tukang_sessions s ON s.key = t.session"

_specs = msgspec.json.Decoder(TaskSpec)
_outcomes = msgspec.json.Decoder(Outcome)


def add(db: Database, new: NewTask) -> tuple[int, TaskRow]:
    """Make a task, or find the one of that id; returns its session's key too."""
    now = db.now()
    db.change(
        """
        INSERT INTO tukang_sessions (id, created, updated, token) VALUES (:id, :now, :now, :token)
        ON CONFLICT (id) DO NOTHING
        """,
        id=new.session,
        now=now,
        token=first_token(now),
    )
    db.change(
        """
        INSERT INTO tukang_tasks (id, session, agent, backend, spec, wakes, created, due, expires)
        SELECT :id, s.key, :agent, :backend, :spec, :wakes, :now, :now, :expires FROM tukang_sessions s WHERE s.id = :session
        ON CONFLICT (id) DO NOTHING
        """,
        id=new.id,
        agent=storable(new.agent),
        backend=new.backend,
        spec=text_of(new.spec),
        wakes=int(new.spec.long.wake),
        now=now,
        expires=None if new.expires is None else now + new.expires,
        session=new.session,
    )
    return home(db, new.id), one(db, new.id)


def one(db: Database, id: str) -> TaskRow:
    """A task.

    Raises:
        UnknownTaskError: there is none of that id.
    """
    row = db.one(f"SELECT {_COLUMNS} {_FROM} WHERE t.id = :id", id=id)
    if row is None:
        raise UnknownTaskError(f"there is no task {id!r}")
    return _row(row, db.now())


def home(db: Database, id: str) -> int:
    """The key of its session.

    Raises:
        UnknownTaskError: there is none of that id.
    """
    row = db.one("SELECT session FROM tukang_tasks WHERE id = :id", id=id)
    if row is None:
        raise UnknownTaskError(f"there is no task {id!r}")
    return row[0]


def several(
    db: Database, session: str | None, agent: str | None, states: Sequence[TaskState], limit: int
) -> list[TaskRow]:
    """Tasks that fit, the last asked for first."""
    wanted = {"s.id": ("session", session), "t.agent": ("agent", agent)}
    values: dict[str, Any] = {name: value for name, value in wanted.values() if value is not None}
    conditions = [f"{column} = :{name}" for column, (name, value) in wanted.items() if value is not None]
    if states:
        conditions.append(f"t.state IN ({', '.join(repr(state) for state in states)})")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    now = db.now()
    rows = db.all(
        f"SELECT {_COLUMNS} {_FROM} {where} ORDER BY t.created DESC, t.key DESC LIMIT :limit", limit=limit, **values
    )
    return [_row(row, now) for row in rows]


def pending(db: Database, agent: str, backend: str, limit: int) -> list[TaskRow]:
    """An agent's tasks with which something is still to be done: begun, watched over, or told to their session. Those that
    can be begun first come first."""
    now = db.now()
    rows = db.all(
        f"""
        SELECT {_COLUMNS} {_FROM}
        WHERE t.agent = :agent AND t.backend = :backend
            AND (t.state IN ('queued', 'running') OR (t.wakes = 1 AND t.woken IS NULL))
        ORDER BY CASE WHEN t.state IN ('queued', 'running') THEN 0 ELSE 1 END, t.due, t.key LIMIT :limit
        """,
        agent=agent,
        backend=backend,
        limit=limit,
    )
    return [_row(row, now) for row in rows]


def move(db: Database, id: str, token: int, to: Move, claim: str) -> tuple[int, TaskRow]:
    """Change its state, if its token is still this one; returns its session's key too.

    `claim` names this attempt: the same attempt again, after its answer was lost, finds what it has done.

    Raises:
        TaskLostError: the token is another one.
    """
    now = db.now()
    began = to.state == "running"
    row = db.one(
        """
        UPDATE tukang_tasks SET
            state = :state, token = token + 1, claim = :claim, due = :due, holder = :holder, lease = :lease,
            outcome = :outcome, finished = :finished, lost = lost * :keeps + :lost, attempts = attempts + :began,
            tries = tries * :keeps + :began,
            began = CASE WHEN :began = 1 THEN :now ELSE began END,
            percent = CASE WHEN :began = 1 THEN NULL ELSE percent END,
            message = CASE WHEN :began = 1 THEN '' ELSE message END,
            cancel = CASE WHEN :keeps = 0 THEN NULL ELSE cancel END,
            woken = CASE WHEN :keeps = 0 THEN NULL ELSE woken END,
            expires = CASE WHEN :keeps = 0 THEN :expires ELSE expires END
        WHERE id = :id AND token = :token
        RETURNING session
        """,
        state=to.state,
        claim=claim,
        due=now + to.delay,
        holder=to.holder,
        lease=None if to.lease is None else now + to.lease,
        outcome=None if to.outcome is None else text_of(to.outcome),
        finished=now if to.state in FINAL else None,
        keeps=int(not to.afresh),
        lost=int(to.lost),
        began=int(began),
        now=now,
        expires=None if to.expires is None else now + to.expires,
        id=id,
        token=token,
    )
    if row is None:
        mine = db.one("SELECT session FROM tukang_tasks WHERE id = :id AND claim = :claim", id=id, claim=claim)
        if mine is None:
            raise TaskLostError(f"task {id}: somebody else has it by now, or it is gone")
        row = mine
    return row[0], one(db, id)


def beat(
    db: Database, id: str, token: int, seconds: float, percent: float | None, message: str
) -> tuple[int, float | None]:
    """Hold it for so many seconds from now, and write down how far it is; returns its session's key, and when its end was
    asked for.

    Raises:
        TaskLostError: the token is another one.
    """
    row = db.one(
        """
        UPDATE tukang_tasks SET lease = :lease, percent = :percent, message = :message
        WHERE id = :id AND token = :token
        RETURNING session, cancel
        """,
        lease=db.now() + seconds,
        percent=percent,
        message=storable(message),
        id=id,
        token=token,
    )
    if row is None:
        raise TaskLostError(f"task {id}: somebody else has it by now, or it is gone")
    return row[0], row[1]


def ask_to_end(db: Database, id: str, token: int) -> int | None:
    """Write down that its end is wanted, while it is running; returns its session's key, None when it is not so any more."""
    row = db.one(
        """
        UPDATE tukang_tasks SET cancel = coalesce(cancel, :now) WHERE id = :id AND token = :token AND state = 'running'
        RETURNING session
        """,
        now=db.now(),
        id=id,
        token=token,
    )
    return None if row is None else row[0]


def woke(db: Database, id: str) -> int | None:
    """Write down that its session was woken."""
    row = db.one("UPDATE tukang_tasks SET woken = :now WHERE id = :id RETURNING session", now=db.now(), id=id)
    return None if row is None else row[0]


def _row(row: tuple[Any, ...], now: float) -> TaskRow:
    values = list(row)
    values[4] = _specs.decode(cast("str", row[4]))
    values[20] = None if row[20] is None else _outcomes.decode(cast("str", row[20]))
    return TaskRow(*values, now=now)
