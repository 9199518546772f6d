"""What turns wait for: offered by a turn, answered by anybody, consumed by a turn, each once. Bodies of transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import storable, text_of, value_of
from tukang.memory.stores.errors import WaitError
from tukang.memory.stores.values import Offer, Wait

_WAIT = """
    SELECT w.kind, w.name, s.id, t.id, w.asked, w.created, w.expires, w.answer, w.answerer, w.answered, w.consumed
    FROM tukang_waits w JOIN tukang_turns t ON t.key = w.turn JOIN tukang_sessions s ON s.key = t.session
"""


def offer(db: Database, turn: int, offers: Sequence[Offer], at: float) -> None:
    """Write down what a turn waits for.

    Raises:
        WaitError: `answered`: the key is another turn's.
    """
    for one in offers:
        db.change(
            """
            INSERT INTO tukang_waits (kind, name, turn, asked, created, expires)
            VALUES (:kind, :name, :turn, :asked, :at, :expires)
            ON CONFLICT (kind, name) DO NOTHING
            """,
            kind=one.kind,
            name=one.key,
            turn=turn,
            asked=text_of(one.asked),
            at=at,
            expires=one.expires,
        )
        row = db.one("SELECT turn FROM tukang_waits WHERE kind = :kind AND name = :name", kind=one.kind, name=one.key)
        if row != (turn,):
            raise WaitError("answered", f"{one.kind} {one.key!r} was offered by another turn: keys are used once")


def consume(db: Database, kind: str, key: str, *, session: int, at: float) -> None:
    """Use an answer, once, for a turn of the same session.

    Raises:
        WaitError: `unknown`, `unanswered` or `consumed`.
    """
    used = db.change(
        """
        UPDATE tukang_waits SET consumed = :at
        WHERE kind = :kind AND name = :name AND answered IS NOT NULL AND consumed IS NULL
            AND turn IN (SELECT key FROM tukang_turns WHERE session = :session)
        """,
        kind=kind,
        name=key,
        at=at,
        session=session,
    )
    if used:
        return
    row = db.one(
        """
        SELECT w.answered, w.consumed FROM tukang_waits w JOIN tukang_turns t ON t.key = w.turn
        WHERE w.kind = :kind AND w.name = :name AND t.session = :session
        """,
        kind=kind,
        name=key,
        session=session,
    )
    if row is None:
        raise WaitError("unknown", f"{kind} {key!r}: this session waits for no such thing")
    if row[1] is not None:
        raise WaitError("consumed", f"{kind} {key!r} was used before: an answer is used once")
    raise WaitError("unanswered", f"{kind} {key!r} has no answer yet")


def answer(db: Database, kind: str, key: str, answer: Any, by: str) -> tuple[int, Wait]:
    """Write an answer down, if there is none yet; returns the session's key too.

    Raises:
        WaitError: `unknown`, `answered` or `expired`.
    """
    now = db.now()
    changed = db.change(
        """
        UPDATE tukang_waits SET answer = :answer, answerer = :by, answered = :now
        WHERE kind = :kind AND name = :name AND answered IS NULL AND (expires IS NULL OR expires > :now)
        """,
        answer=text_of(answer),
        by=storable(by),
        now=now,
        kind=kind,
        name=key,
    )
    found = db.all(f"{_WAIT} WHERE w.kind = :kind AND w.name = :name", kind=kind, name=key)
    if not found:
        raise WaitError("unknown", f"nothing waits for {kind} {key!r}")
    wait = _wait(found[0])
    if not changed:
        if wait.answered is not None:
            raise WaitError("answered", f"{kind} {key!r} was answered before" + (f", by {wait.by}" if wait.by else ""))
        raise WaitError("expired", f"{kind} {key!r} has expired: it cannot be answered any more")
    session = db.one("SELECT key FROM tukang_sessions WHERE id = :id", id=wait.session)
    assert session is not None, "the join above has found it"
    return session[0], wait


def home(db: Database, kind: str, key: str) -> int:
    """The key of the session whose turn waits.

    Raises:
        WaitError: `unknown`.
    """
    row = db.one(
        "SELECT t.session FROM tukang_waits w JOIN tukang_turns t ON t.key = w.turn WHERE w.kind = :kind AND w.name = :name",
        kind=kind,
        name=key,
    )
    if row is None:
        raise WaitError("unknown", f"nothing waits for {kind} {key!r}")
    return row[0]


def one(db: Database, kind: str, key: str) -> tuple[Wait, float | None]:
    """A wait, and the seconds until it expires, if it does.

    Raises:
        WaitError: `unknown`.
    """
    found = db.all(f"{_WAIT} WHERE w.kind = :kind AND w.name = :name", kind=kind, name=key)
    if not found:
        raise WaitError("unknown", f"nothing waits for {kind} {key!r}")
    wait = _wait(found[0])
    return wait, None if wait.expires is None else wait.expires - db.now()


def waits(
    db: Database, kind: str | None, session: str | None, turn: str | None, key: str | None, open_only: bool
) -> list[Wait]:
    """The waits that fit, oldest first."""
    columns = {"kind": "w.kind", "name": "w.name", "session": "s.id", "turn": "t.id"}
    wanted = {"kind": kind, "name": key, "session": session, "turn": turn}
    values = {name: value for name, value in wanted.items() if value is not None}
    conditions = [f"{columns[name]} = :{name}" for name in values]
    if open_only:
        conditions.append("w.answered IS NULL")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return [_wait(row) for row in db.all(f"{_WAIT} {where} ORDER BY w.created, w.key", **values)]


def _wait(row: tuple[Any, ...]) -> Wait:
    kind, key, session, turn, asked, created, expires, answer, by, answered, consumed = row
    return Wait(
        kind=kind,
        key=key,
        session=session,
        turn=turn,
        asked=value_of(asked),
        created=created,
        expires=expires,
        answer=value_of(answer),
        by=by,
        answered=answered,
        consumed=consumed,
    )
