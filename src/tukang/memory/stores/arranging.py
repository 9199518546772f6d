"""Forking, renaming and deleting sessions, and what is kept with them. Each function is the body of one transaction."""

from __future__ import annotations

from collections import Counter

from tukang.memory.stores.database import Database
from tukang.memory.stores.encoding import text_of
from tukang.memory.stores.errors import SessionExistsError, UnknownSessionError
from tukang.memory.stores.leasing import first_token, refuse_if_held
from tukang.memory.stores.reading import session_key
from tukang.memory.stores.values import Deleted, Kept
from tukang.runtime.journal import JournalConflictError


def fork(db: Database, session: str, new: str, upto: int | None) -> None:
    """A new session with the finished turns of another: rows that say which, no copies.

    Raises:
        UnknownSessionError: there is no such session, or no finished turn of that number.
        SessionExistsError: `new` is taken.
    """
    db.exclude_forks()
    source = session_key(db, session)
    last = db.one(
        """
        SELECT coalesce(max(h.number), 0) FROM tukang_history h JOIN tukang_turns t ON t.key = h.turn
        WHERE h.session = :source AND t.finished IS NOT NULL
        """,
        source=source,
    )
    assert last is not None, "an aggregate has a row"
    finished: int = last[0]
    upto = finished if upto is None else upto
    if not 0 <= upto <= finished:
        raise UnknownSessionError(f"session {session!r} has no finished turn {upto}: there are {finished}")
    _refuse_if_taken(db, new)
    now = db.now()
    key = db.insert(
        """
        INSERT INTO tukang_sessions (id, created, updated, origin, token) VALUES (:new, :now, :now, :session, :token)
        RETURNING key
        """,
        new=new,
        now=now,
        session=session,
        token=first_token(now),
    )
    for table, columns in (("tukang_history", "number, turn"), ("tukang_kept", "name, upto, data")):
        bound = "number" if table == "tukang_history" else "upto"
        db.change(
            f"""
            INSERT INTO {table} (session, {columns})
            SELECT :key, {columns} FROM {table} WHERE session = :source AND {bound} <= :upto
            """,
            key=key,
            source=source,
            upto=upto,
        )


def rename(db: Database, session: str, new: str) -> int:
    """Call a session by another name; returns its key.

    Raises:
        UnknownSessionError, SessionExistsError: as `Store.rename` says.
        HeldError: a turn holds it.
    """
    key = _lock(db, session)
    if new != session:
        _refuse_if_taken(db, new)
        # a new token, so that whoever held it before finds out even if the old name is used again
        db.change("UPDATE tukang_sessions SET id = :new, token = token + 1 WHERE key = :key", new=new, key=key)
    return key


def delete(db: Database, session: str) -> tuple[int, Deleted]:
    """Delete a session, and those of its turns that no other session shares; returns its key too.

    Raises:
        UnknownSessionError: there is none of that name.
        HeldError: a turn holds it.
    """
    db.exclude_forks()
    key = _lock(db, session)
    turns = [turn for (turn,) in db.all("SELECT turn FROM tukang_history WHERE session = :key", key=key)]
    sharing = db.all(
        """
        SELECT h.turn, o.id
        FROM tukang_history h JOIN tukang_sessions o ON o.key = h.session
        WHERE h.session <> :key AND h.turn IN (SELECT turn FROM tukang_history WHERE session = :key)
        """,
        key=key,
    )
    shared = {turn for turn, _ in sharing}
    gone = [turn for turn in turns if turn not in shared]
    db.drop_words(gone)
    db.change("DELETE FROM tukang_sessions WHERE key = :key", key=key)  # history and what is kept go with it
    db.many("DELETE FROM tukang_turns WHERE key = :turn", [{"turn": turn} for turn in gone])  # events and waits too
    return key, Deleted(len(gone), dict(Counter(id for _, id in sharing)))


def keep(db: Database, session: str, kept: Kept, replaces: Kept | None) -> None:
    """Keep a value in place of the one there is.

    Raises:
        JournalConflictError: another value is there.
        UnknownSessionError: there is no such session.
    """
    key = _lock(db, session, may_be_held=True)
    row = db.one("SELECT upto, data FROM tukang_kept WHERE session = :key AND name = :name", key=key, name=kept.name)
    if row != (None if replaces is None else (replaces.upto, text_of(replaces.data))):
        raise JournalConflictError(
            f"session {session!r} keeps another {kept.name!r} than the one to be replaced: somebody was faster"
        )
    db.change(
        """
        INSERT INTO tukang_kept (session, name, upto, data) VALUES (:key, :name, :upto, :data)
        ON CONFLICT (session, name) DO UPDATE SET upto = excluded.upto, data = excluded.data
        """,
        key=key,
        name=kept.name,
        upto=kept.upto,
        data=text_of(kept.data),
    )


def _lock(db: Database, session: str, *, may_be_held: bool = False) -> int:
    row = db.one(
        f"SELECT key, holder, expires FROM tukang_sessions s WHERE id = :id {db.for_update}",
        id=session,
    )
    if row is None:
        raise UnknownSessionError(f"there is no session {session!r} in this store")
    key, holder, expires = row
    if not may_be_held:
        refuse_if_held(db, session, key, holder, expires)
    return key


def _refuse_if_taken(db: Database, new: str) -> None:
    if db.one("SELECT 1 FROM tukang_sessions WHERE id = :new", new=new) is not None:
        raise SessionExistsError(taken(new))


def taken(session: str) -> str:
    return f"there is a session {session!r} already; choose another name, or delete that one"
