"""What the readers of databases share: their bounds, what a schema is, what a query brings. Reads nothing."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec

_EXACT = 2**53 - 1
"""Whole numbers beyond this are not the same in every reader of JSON."""


class Bounds(msgspec.Struct, frozen=True):
    """What one query may take and bring.

    Args:
        rows: rows that are fetched.
        seconds: how long it may run.
        size: characters of all its rows together.
        value: characters of one value.
    """

    rows: int
    seconds: float
    size: int
    value: int


class Column(msgspec.Struct, frozen=True):
    """A column: `refers` is `table.column`, `about` what the database says of it."""

    name: str
    type: str
    primary: bool = False
    needed: bool = False
    refers: str = ""
    about: str = ""


class Table(msgspec.Struct, frozen=True):
    """A table or a view; `rows` is about how many, None where that is not known cheaply."""

    name: str
    columns: tuple[Column, ...]
    kind: Literal["table", "view"] = "table"
    rows: int | None = None
    about: str = ""


class Refused(Exception):
    """A query that the database, or this tool, did not run to its end. The model reads it.

    Args:
        message: what was wrong, without secrets.
        hint: how to mend it.
        of_schema: whether a look at the schema would help.
    """

    def __init__(self, message: str, hint: str | None = None, *, of_schema: bool = False) -> None:
        super().__init__(message)
        self.message, self.hint, self.of_schema = message, hint, of_schema


_AGAIN = 0.2
"""Seconds after which what should stop is told so again."""


class Stop:
    """Stops what runs in another thread; also what begins only later. A database that is told to stop between two statements
    goes on with the next one, so it is told until it has stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._how: Callable[[], None] | None = None
        self.asked = False

    def by(self, how: Callable[[], None] | None) -> None:
        """From now on it is stopped like this; None when there is nothing to stop any more."""
        with self._lock:
            self._how = how
            if how is None:
                self._over.set()
            elif self.asked:
                how()

    def __call__(self) -> None:
        """Stop it, and wait until it has. From any thread but its own, any number of times."""
        self.asked = True
        while True:
            with self._lock:
                if self._how is None:
                    return
                self._how()
            if self._over.wait(_AGAIN):
                return


class Reader(Protocol):
    """A database that can be read and not written."""

    name: str
    """The address, without a password."""
    kind: str
    """As a model knows its SQL: `SQLite`, `PostgreSQL`."""
    placeholder: str
    """How a statement names its first parameter."""

    def tables(self) -> tuple[Table, ...]:
        """What may be read.

        Raises:
            ConfigurationError: it cannot be reached, or is not as it has to be.
        """
        ...

    def query(self, sql: str, parameters: Sequence[Any], stop: Stop) -> Rows:
        """What a statement brings.

        Raises:
            Refused: it could not be run, or not to its end.
        """
        ...


class Rows:
    """Rows as they are collected, within the bounds. Made for JSON: what JSON has no word for becomes text."""

    def __init__(self, columns: Sequence[str], bounds: Bounds) -> None:
        self._columns, self._bounds = list(columns), bounds
        self._rows: list[list[Any]] = []
        self._size = 0
        self._cut: str = ""

    def add(self, row: Sequence[Any]) -> bool:
        """Add a row; whether another one is wanted."""
        if len(self._rows) >= self._bounds.rows:
            self._cut = f"There are more rows; these are the first {len(self._rows)}."
            return False
        values = [self._value(value) for value in row]
        self._size += sum(len(value) if isinstance(value, str) else 8 for value in values)
        if self._size > self._bounds.size and self._rows:
            self._cut = f"The rows were too large together; these are the first {len(self._rows)}."
            return False
        self._rows.append(values)
        return True

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            most = self._bounds.value
            return value if len(value) <= most else f"{value[:most]}… (cut)"
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
            return str(value)
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
        if isinstance(value, (bytes, bytearray)):
            return size_of(len(value))
        return value

    @property
    def told(self) -> dict[str, Any]:
        """As the model reads it."""
        told: dict[str, Any] = {"columns": self._columns, "rows": self._rows}
        if self._cut:
            told["cut"] = self._cut
        return told


def size_of(size: int) -> str:
    """What stands in the place of bytes."""
    return f"<{size} bytes>"
