"""Tools that read a database: one that runs a query, one that shows the schema. Neither can write.

What keeps them from writing stands in `sqlite` and `postgres`; here is what the model sees, and that a query ends when its
time is up or nobody waits for it any more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Unpack, cast

from tukang.connectors.making import made, seconds_of, whole_number
from tukang.connectors.schema import table_line, written
from tukang.connectors.sqlite import SqliteReader
from tukang.connectors.values import Bounds, Reader, Refused, Stop, Table
from tukang.errors import ConfigurationError, ToolDefinitionError
from tukang.memory.stores.addresses import place_of
from tukang.tools.aside import AsideError, aside
from tukang.tools.context import CallContext
from tukang.tools.names import nearest
from tukang.tools.outcome import NothingDone
from tukang.tools.policy import PolicyOptions
from tukang.tools.tool import Tool
from tukang.tools.untrusted import untrusted

SCHEMA = 6_000
"""Characters of a schema in the description of a tool: it is read by the model in every request."""

_LATE = 1.0
"""Seconds beyond its time that a query has to say that it was stopped."""

_LONGEST_SQL = 20_000


def sql_tool(
    url: str,
    *,
    name: str = "query_database",
    description: str = "",
    tables: Collection[str] | None = None,
    rows: int = 100,
    seconds: float = 10.0,
    size: int = 40_000,
    value: int = 2_000,
    any_role: bool = False,
    trusted: bool = True,
    **policy: Unpack[PolicyOptions],
) -> Tool:
    """A tool that runs one SELECT on a database. Its description holds the schema, which is read here and now.

    Args:
        url: `sqlite:///relative/path.db`, `sqlite:////absolute/path.db`, or `postgresql://user:password@host/database`.
        name: what the model calls it.
        description: what the model is told of the database, before the schema.
        tables: the only ones that may be read; all that can be if None. On Postgres the role must have rights on no others.
        rows: rows that one query brings.
        seconds: how long a query may run.
        size: characters of all rows together.
        value: characters of one value.
        any_role: on Postgres, take a role that could do more than read. Then only the transaction keeps a query from writing,
            and a function that acts outside of it is not kept from anything.
        trusted: whether what stands in the database may count as the host's own words; False where others write into it.
        policy: as in `@tool`.

    Raises:
        ConfigurationError: the database cannot be reached, has no such table, or its role may do more than read.
        ToolDefinitionError: a bound or the policy is not a possible one.
    """
    source = _Source(name, url, tables, _bounds(name, rows, seconds, size, value), any_role=any_role, trusted=trusted)
    reader = source.reader
    schema, whole = written(source.tables, SCHEMA)
    about = [
        description or f"Look things up in the database ({reader.kind}).",
        f"Takes one SELECT in {reader.kind}'s SQL and returns at most {rows} rows; it can only read. Values that come from "
        f"the user go into `parameters`, and stand in the statement as {reader.placeholder}.",
        f"The tables{'' if whole else ', as far as there is room for them'}:\n{schema}" if source.tables else "",
    ]
    contract = {
        "name": name,
        "description": "\n".join(filter(None, about)),
        "parameters": _parameters(reader.placeholder),
    }
    return made(contract, source.query, {"effect": "read", "untrusted": not trusted}, policy)


def _parameters(placeholder: str) -> Mapping[str, Any]:
    """What a query takes, where the statement says `placeholder` for a value."""
    return {
        "type": "object",
        "properties": {
            "sql": {"type": "string", "minLength": 1, "maxLength": _LONGEST_SQL, "description": "one SELECT"},
            "parameters": {
                "type": "array",
                "items": {"type": ["string", "number", "boolean", "null"]},
                "maxItems": 100,
                "description": f"values for {placeholder} in the statement, in order",
            },
        },
        "required": ["sql"],
        "additionalProperties": False,
    }


def sql_schema_tool(
    url: str,
    *,
    name: str = "describe_tables",
    tables: Collection[str] | None = None,
    seconds: float = 10.0,
    any_role: bool = False,
    trusted: bool = True,
    **policy: Unpack[PolicyOptions],
) -> Tool:
    """A tool that shows tables and their columns, for a database whose schema is too large to stand in a description.

    Arguments and errors as for `sql_tool`. The schema is read again at each call.
    """
    bounds = _bounds(name, 1, seconds, 1, 1)
    source = _Source(name, url, tables, bounds, any_role=any_role, trusted=trusted)
    contract = {
        "name": name,
        "description": "Show tables of the database with columns, types and keys; without names, as many as fit.",
        "parameters": {
            "type": "object",
            "properties": {
                "tables": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": 50,
                    "description": "names of tables",
                }
            },
            "additionalProperties": False,
        },
    }
    return made(contract, source.schema, {"effect": "read", "untrusted": not trusted}, policy)


class _Source:
    """A database, and what is done with it."""

    def __init__(
        self, name: str, url: str, tables: Collection[str] | None, bounds: Bounds, *, any_role: bool, trusted: bool
    ) -> None:
        only = _names(name, tables)
        self.reader = _reader(name, url, bounds, only, any_role=any_role)
        self._bounds, self._trusted = bounds, trusted
        try:
            self.tables = self.reader.tables()
        except ConfigurationError as error:
            raise ConfigurationError(f"tool {name!r}: {error}") from error

    async def query(self, context: CallContext, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Run it."""
        stop = Stop()
        statement = sql.strip().rstrip(";").rstrip()
        rows = await self._ended(stop, context, self.reader.query, statement, tuple(parameters), stop)
        return self._marked(rows.told)

    async def schema(self, context: CallContext, tables: Sequence[str] = ()) -> Any:
        """Show it."""
        self.tables = found = await self._ended(Stop(), context, self.reader.tables)
        if not tables:
            return self._marked(written(found, 4 * SCHEMA)[0])
        known = {table.name.lower(): table for table in found}
        if unknown := [name for name in tables if name.lower() not in known]:
            close = nearest(unknown[0], [table.name for table in found])
            raise NothingDone(f"there is no table {unknown[0]!r}", f"Near it: {', '.join(close)}." if close else None)
        return self._marked("\n".join(table_line(known[name.lower()]) for name in tables))

    async def _ended(self, stop: Stop, context: CallContext, function: Any, *arguments: Any) -> Any:
        left = context.seconds_left()
        seconds = self._bounds.seconds + _LATE
        try:
            async with asyncio.timeout(seconds if left is None else min(seconds, left)):
                return await aside(function, *arguments)
        except TimeoutError:
            _in_the_background(stop)
            raise NothingDone(f"it was stopped after {self._bounds.seconds:g} seconds", "Ask for less.") from None
        except asyncio.CancelledError:
            _in_the_background(stop)
            raise
        except Refused as error:
            hint = error.hint or (self._near(error.message) if error.of_schema else None)
            raise NothingDone(error.message, hint) from None
        except (AsideError, ConfigurationError) as error:
            raise NothingDone(str(error)) from None

    def _near(self, message: str) -> str:
        """What may have been meant by a name that there is not."""
        mentioned = [table for table in self.tables if table.name.lower() in message.lower()]
        shown = mentioned or _likely(message, self.tables)
        return "There is: " + written(shown, 1_500)[0]

    def _marked(self, value: Any) -> Any:
        return value if self._trusted else untrusted(value, f"the database {self.reader.name}")


def _in_the_background(stop: Stop) -> None:
    """Stopping a query at a server takes a connection of its own, and the event loop does not wait for that."""
    threading.Thread(target=stop, name="tukang-stop", daemon=True).start()


def _likely(message: str, tables: Sequence[Table]) -> Sequence[Table]:
    words = message.replace('"', " ").replace(".", " ").replace(":", " ").split()
    names = [table.name for table in tables]
    close = {name for word in words if len(word) > 3 for name in nearest(word, names, most=2)}
    return [table for table in tables if table.name in close] or tables


def _reader(name: str, url: str, bounds: Bounds, only: Sequence[str] | None, *, any_role: bool) -> Reader:
    if not url.startswith(("sqlite:///", "postgresql://", "postgres://")):
        scheme = url.partition("://")[0] if "://" in url else "something else"
        raise ConfigurationError(
            f"tool {name!r}: the address begins with sqlite:/// or postgresql://, not with {scheme[:20]!r}"
        )
    place = place_of(url)
    if place.path is not None:
        if any_role:
            raise ToolDefinitionError(f"tool {name!r}: any_role is for Postgres; a file has no roles")
        return SqliteReader(place.path, bounds, only)
    from tukang.connectors.postgres import PostgresReader

    return PostgresReader(url, bounds, only, any_role=any_role)


def _names(name: str, tables: Collection[str] | None) -> list[str] | None:
    if tables is None:
        return None
    given = cast("Collection[object]", tables)
    if isinstance(given, str) or not given or not all(isinstance(one, str) and one for one in given):
        raise ToolDefinitionError(f"tool {name!r}: tables is several names, such as ['pesanan'], not {tables!r}")
    return list(tables)


def _bounds(name: str, rows: int, seconds: float, size: int, value: int) -> Bounds:
    return Bounds(
        whole_number(f"tool {name!r}: rows", rows, 10_000),
        seconds_of(f"tool {name!r}", seconds),
        whole_number(f"tool {name!r}: size", size, 10_000_000),
        whole_number(f"tool {name!r}: value", value, 1_000_000),
    )
