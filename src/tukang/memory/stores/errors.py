"""What a store raises, at the developer. Each says what was found, what was expected, and how to go on.

Two families. `StoreError`: the database could not do what was asked, whoever asked; nothing was half-written. The others: the
database is well, and the answer is no, because somebody else was there first or because there is no such thing.
"""

from __future__ import annotations

from typing import Literal

from tukang.errors import TukangError
from tukang.runtime.journal import JournalConflictError

StoreErrorKind = Literal[
    "unavailable",  # no connection, or it broke: the server is down, restarting, or cut off; tried again for `patience`
    "locked",  # another process held the database for longer than `patience`
    "full",  # no room left on the disk
    "read_only",  # the file or the server takes no writes
    "denied",  # wrong password, no such user, no rights
    "not_found",  # no such directory, no such database
    "corrupt",  # not a database, or a damaged one
    "not_upgraded",  # the schema is older than this program; `tukang db upgrade` mends it
    "too_new",  # the schema, or an event, was written by a newer tukang
    "not_installed",  # the driver is not there; an extra brings it
    "unexpected",  # anything else the database said
]


class StoreError(TukangError):
    """The database could not do it. Nothing of what was asked has been written, or all of it (see `Store.append`).

    Args:
        kind: one of the closed list above.
        message: what happened and to which store, without a password.
        hint: how to mend it, where that is known.
        uncertain: whether it may have been done nevertheless: the connection broke while the answer was on its way.
    """

    def __init__(self, kind: StoreErrorKind, message: str, hint: str | None = None, *, uncertain: bool = False) -> None:
        super().__init__(message if hint is None else f"{message} {hint}")
        self.kind: StoreErrorKind = kind
        self.message = message
        self.hint = hint
        self.uncertain = uncertain


class DuplicateError(StoreError):
    """A row is there already that must be there once. The store turns this into the error that says what that means."""

    def __init__(self, message: str) -> None:
        super().__init__("unexpected", message)


class LeaseLostError(JournalConflictError):
    """The session was taken over: this lease's token is not the session's any more. Stop; do not try again."""


class UnknownSessionError(TukangError):
    """There is no session, or no turn, of that name."""


class SessionExistsError(TukangError):
    """The name is taken: a fork, a rename or an import would have to write over it."""


class ImportFormatError(TukangError):
    """What was to be imported is not an export, or contradicts what is there. Nothing of that session was written."""


WaitErrorKind = Literal["unknown", "unanswered", "answered", "expired", "consumed"]


class WaitError(TukangError):
    """What a turn waits for is not as it has to be.

    Args:
        kind: `unknown`: there is none; `unanswered`: nobody has decided; `answered`: somebody was faster; `expired`: too
            late; `consumed`: it was used before.
    """

    def __init__(self, kind: WaitErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: WaitErrorKind = kind
