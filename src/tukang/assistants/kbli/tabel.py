"""The codes, by edition: a table in one SQLite file, and a starter table that ships. It knows codes, and nothing of models.

What ships is a table of common codes of the 2025 edition: their titles, and what they are for in our own words. Whole tables
are brought in with `tukang kbli import` and replace an edition in one transaction, so whoever reads sees the old or the new.
"""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path

import msgspec

from tukang.assistants.katalog import data_folder, unusable
from tukang.errors import ConfigurationError

EDISI = (2020, 2025)
"""The editions there are. A code that is in both may mean another activity in each."""

_VERSION = 1
_WAIT = 10.0
"""Seconds to wait for another writer."""

_SCHEMA = """
CREATE TABLE kode (
    edisi  INTEGER NOT NULL,
    kode   TEXT NOT NULL,
    judul  TEXT NOT NULL,
    uraian TEXT NOT NULL,
    PRIMARY KEY (edisi, kode)
) WITHOUT ROWID
"""


_ALL = "SELECT edisi, kode, judul, uraian FROM kode ORDER BY edisi, kode"


class Kode(msgspec.Struct, frozen=True, order=True):
    """A five-digit code of an edition. `uraian` says what it is for; it may be empty."""

    edisi: int
    kode: str
    judul: str
    uraian: str = ""

    @property
    def teks(self) -> str:
        """All that is said about it, for a search."""
        return f"{self.judul}. {self.uraian}".strip()


class Tabel:
    """All codes there are, by edition.

    Args:
        path: the file of imported tables; `default_path()` when None. It need not be there.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if path is not None else default_path()
        self._read: tuple[object, dict[int, dict[str, Kode]]] | None = None

    def edisi(self, edisi: int) -> dict[str, Kode]:
        """The codes of an edition, in order; empty when there is no table of it."""
        return self._all().get(edisi, {})

    def kode(self, kode: str, edisi: int) -> Kode | None:
        """The code in an edition; None when it is not in the table."""
        return self.edisi(edisi).get(kode)

    def lengkap(self, edisi: int) -> bool:
        """Whether the edition was imported: a code that is not in it is then no code. Of the starter table that is not so."""
        return bool(self.edisi(edisi)) and not self._starts(edisi)

    def ganti(self, edisi: int, codes: Iterable[Kode]) -> None:
        """Put this table of an edition in place of what there is.

        Raises:
            ConfigurationError: the file belongs to another version of this program, or is held by another writer.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unusable(self.path, error.strerror) from error
        with self._open() as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise ConfigurationError(f"{self.path} is being written by another program: try again") from error
            try:
                if not _version(database):
                    database.execute(_SCHEMA)
                    database.execute(f"PRAGMA user_version = {_VERSION}")
                database.execute("DELETE FROM kode WHERE edisi = ?", (edisi,))
                rows = ((edisi, one.kode, one.judul, one.uraian) for one in codes)
                database.executemany("INSERT INTO kode VALUES (?, ?, ?, ?)", rows)
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
        self._read = None

    def _starts(self, edisi: int) -> bool:
        first = next(iter(self.edisi(edisi).values()), None)
        return first is not None and first == next(iter(awal().values()))

    def _all(self) -> dict[int, dict[str, Kode]]:
        """What is in the file now, beside what ships. Read again only when the file has changed."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            stamp = None
        except OSError as error:
            raise unusable(self.path, error.strerror) from error
        else:
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._read is None or self._read[0] != stamp:
            tables: dict[int, dict[str, Kode]] = {}
            if stamp is not None:
                with self._open() as database:
                    for row in database.execute(_ALL) if _version(database) else ():
                        tables.setdefault(row[0], {})[row[1]] = Kode(*row)
            tables.setdefault(2025, awal())
            self._read = (stamp, tables)
        return self._read[1]

    def _connected(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
        except sqlite3.OperationalError as error:  # the file may not be read, or its folder not be written to
            raise unusable(self.path, error) from error

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        with closing(self._connected()) as database:
            try:
                version = _version(database)
            except sqlite3.OperationalError as error:
                raise ConfigurationError(
                    f"{self.path} cannot be opened or is held by another program: {error}"
                ) from error
            except sqlite3.DatabaseError as error:
                raise ConfigurationError(f"{self.path} is no SQLite file: move it away, and import again") from error
            if version not in (0, _VERSION):
                raise ConfigurationError(
                    f"the codes in {self.path} have version {version}, this tukang reads {_VERSION}: move the file away"
                )
            yield database


def awal() -> dict[str, Kode]:
    """The starter table: common codes of the 2025 edition, in order."""
    text = files("tukang.assistants.kbli").joinpath("awal.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return {row["kode"]: Kode(2025, row["kode"], row["judul"], row["uraian"]) for row in rows}


def default_path() -> Path:
    """`kbli.db` in `data_folder()`."""
    return data_folder() / "kbli.db"


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])
