"""Leases: who may write to a session. Each function is the body of one transaction."""

from __future__ import annotations

from tukang.errors import SessionBusyError
from tukang.memory.stores.database import Database
from tukang.memory.stores.errors import LeaseLostError, UnknownSessionError
from tukang.memory.stores.values import Lease


class HeldError(SessionBusyError):
    """Somebody else holds the lease.

    Args:
        key: the session's own number.
        seconds: until the lease may be taken over.
    """

    def __init__(self, session: str, holder: str, key: int, seconds: float) -> None:
        super().__init__(
            f"session {session!r} is in the middle of a turn (held by {holder}); wait for it, or use when_busy='wait'"
        )
        self.key = key
        self.seconds = seconds


def take(db: Database, session: str, holder: str, seconds: float, claim: str) -> tuple[int, Lease]:
    """Take a session's lease; returns the session's key too.

    `claim` names this attempt: the same attempt again, after its answer was lost, finds what it has taken.

    Raises:
        HeldError: somebody else holds it.
    """
    now = db.now()
    db.change(
        """
        INSERT INTO tukang_sessions (id, created, updated, token) VALUES (:id, :now, :now, :token)
        ON CONFLICT (id) DO NOTHING
        """,
        id=session,
        now=now,
        token=first_token(now),
    )
    row = db.one(
        f"SELECT key, token, claim, holder, expires FROM tukang_sessions s WHERE id = :id {db.for_update}",
        id=session,
    )
    if row is None:
        raise UnknownSessionError(f"session {session!r} was deleted while it was being taken")
    key, token, last_claim, held_by, expires = row
    again = last_claim == claim
    if held_by is not None and expires > now and not again:
        raise HeldError(session, held_by, key, expires - now)
    if not again:
        token += 1
    db.change(
        "UPDATE tukang_sessions SET token = :token, claim = :claim, holder = :holder, expires = :expires WHERE key = :key",
        token=token,
        claim=claim,
        holder=holder,
        expires=now + seconds,
        key=key,
    )
    open_turn = db.one("SELECT id FROM tukang_turns WHERE session = :key AND finished IS NULL", key=key)
    return key, Lease(
        session=session,
        token=token,
        holder=holder,
        expires=now + seconds,
        open_turn=open_turn[0] if open_turn else None,
        taken_over=held_by is not None and not again,
    )


def first_token(now: float) -> int:
    """Where the tokens of a new session begin: above those of any session that had its name before and was deleted."""
    return int(now * 1_000_000)


def renew(db: Database, lease: Lease, seconds: float) -> float:
    """Hold it for longer; returns until when.

    Raises:
        LeaseLostError: it is not this lease's any more.
    """
    expires = db.now() + seconds
    renewed = db.change(
        "UPDATE tukang_sessions SET holder = :holder, expires = :expires WHERE id = :id AND token = :token",
        holder=lease.holder,
        expires=expires,
        id=lease.session,
        token=lease.token,
    )
    if not renewed:
        raise lost(lease)
    return expires


def release(db: Database, lease: Lease) -> int | None:
    """Give it back; returns the session's key if it was still this lease's.

    The token is raised as well: a heartbeat or an append that is still on its way comes too late.
    """
    row = db.one(
        """
        UPDATE tukang_sessions SET token = token + 1, holder = NULL, expires = 0 WHERE id = :id AND token = :token
        RETURNING key
        """,
        id=lease.session,
        token=lease.token,
    )
    return row[0] if row else None


def seconds_held(db: Database, session: str) -> float | None:
    """For how long a session is held as things stand; None when it is free."""
    row = db.one("SELECT expires FROM tukang_sessions WHERE id = :id AND holder IS NOT NULL", id=session)
    left = 0.0 if row is None else row[0] - db.now()
    return left if left > 0 else None


def lost(lease: Lease) -> LeaseLostError:
    return LeaseLostError(
        f"session {lease.session!r} was taken over, renamed or deleted: {lease.holder} had it with token {lease.token}, "
        "and may not write to it any more"
    )


def refuse_if_held(db: Database, session: str, key: int, holder: str | None, expires: float) -> None:
    """For what must not happen in the middle of a turn.

    Raises:
        HeldError: somebody holds it.
    """
    if holder is not None and (left := expires - db.now()) > 0:
        raise HeldError(session, holder, key, left)
