"""The shop's catalogue and its orders, in one SQLite file. It knows products and orders, and nothing of agents or models.

Every operation opens its own connection, so that any thread may call it. Taking stock and writing the order down are one
transaction that begins by locking the file for writing: of twenty who want the last three, three get them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from tukang.errors import ConfigurationError

_WAIT = 4.0
"""Seconds to wait for another writer."""

_VERSION = 1
_FIRST_ORDER = 1001

_SCHEMA = """
CREATE TABLE produk (
    product_id TEXT PRIMARY KEY COLLATE NOCASE,
    nama       TEXT NOT NULL,
    harga      INTEGER NOT NULL CHECK (harga >= 0),  -- rupiah
    stok       INTEGER NOT NULL CHECK (stok >= 0)
);
CREATE TABLE pesanan (
    nomor      TEXT PRIMARY KEY,
    kunci      TEXT NOT NULL UNIQUE,                 -- the call's idempotency key: one key, one order
    user_id    TEXT NOT NULL,
    product_id TEXT NOT NULL REFERENCES produk (product_id),
    quantity   INTEGER NOT NULL CHECK (quantity >= 1),
    total      INTEGER NOT NULL,                     -- rupiah
    status     TEXT NOT NULL DEFAULT 'pending',
    dibuat     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
"""

_NOTES = """
CREATE TABLE IF NOT EXISTS dilihat (
    percakapan TEXT NOT NULL,
    product_id TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (percakapan, product_id)
)
"""
"""Whose price was looked at in which conversation: kept, because an order may be permitted, and made, in another process."""

_MOST_NOTES = 10_000
"""Of these; the oldest go first. Who then orders is asked to look once more."""

_PRODUCTS = (
    ("PRD001", "Laptop Gaming ASUS ROG", 15_000_000, 3),
    ("PRD002", "SSD Samsung 970 EVO 1TB", 1_200_000, 15),
    ("PRD003", "RAM Corsair DDR5 16GB", 850_000, 0),
)


class Produk(msgspec.Struct, frozen=True):
    """A product. `harga` is in rupiah, `stok` in units."""

    product_id: str
    nama: str
    harga: int
    stok: int


class Pesanan(msgspec.Struct, frozen=True):
    """An order. `total` is in rupiah, `dibuat` is UTC (ISO 8601)."""

    nomor: str
    user_id: str
    product_id: str
    quantity: int
    total: int
    status: str
    dibuat: str


class StokKurang(Exception):
    """There is not enough of a product. Nothing was ordered."""

    def __init__(self, produk: Produk) -> None:
        super().__init__(f"{produk.product_id}: {produk.stok} left")
        self.produk = produk


class KatalogSibuk(Exception):
    """Another writer held the file for longer than `_WAIT` seconds. Nothing was ordered."""


class KunciTerpakai(Exception):
    """The key belongs to another order. Nothing was ordered."""


class Katalog:
    """The catalogue in one file, created with its products on first use.

    Args:
        path: the file; `default_path()` when None.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path) if path is not None else default_path()

    def product(self, product_id: str) -> Produk | None:
        """The product with that id, in capitals or not; None when there is none."""
        with self._open() as database:
            return _product(database, product_id)

    def products(self) -> list[Produk]:
        """All products, by id."""
        with self._open() as database:
            rows = database.execute("SELECT product_id, nama, harga, stok FROM produk ORDER BY product_id")
            return [Produk(*row) for row in rows]

    def orders(self) -> list[Pesanan]:
        """All orders, oldest first."""
        with self._open() as database:
            rows = database.execute(f"SELECT {_ORDER} FROM pesanan ORDER BY rowid")
            return [Pesanan(*row) for row in rows]

    def saw(self, conversation: str, product_id: str) -> None:
        """Note that a product's price was looked at in a conversation; not where another writer holds the file."""
        with suppress(KatalogSibuk), self._open(wait=0.0) as database, _writing(database):
            database.execute(_NOTES)
            database.execute("INSERT OR IGNORE INTO dilihat VALUES (?, ?)", (conversation, product_id))
            newest = database.execute("SELECT max(rowid) FROM dilihat").fetchone()[0]
            database.execute("DELETE FROM dilihat WHERE rowid <= ?", (newest - _MOST_NOTES,))

    def has_seen(self, conversation: str, product_id: str) -> bool:
        """Whether that is so."""
        found = "SELECT 1 FROM dilihat WHERE percakapan = ? AND product_id = ?"
        with self._open() as database, suppress(sqlite3.OperationalError):  # nothing was noted in this file yet
            return database.execute(found, (conversation, product_id.strip())).fetchone() is not None
        return False

    def order(self, product_id: str, quantity: int, user_id: str, key: str) -> Pesanan | None:
        """Take stock and write an order down, both or neither.

        Args:
            product_id: as for `product`.
            quantity: units, at least 1.
            user_id: whose order it is.
            key: names this one wish; with a key that was used before, the order made then is returned.

        Returns:
            The order; None when there is no such product.

        Raises:
            StokKurang: there is not enough.
            KunciTerpakai: the key was used for something else.
            KatalogSibuk: the file was locked for too long.
        """
        with self._open() as database, _writing(database):
            product = _product(database, product_id)
            if product is None:
                return None
            if earlier := _order(database, "kunci", key):
                if (earlier.product_id, earlier.quantity, earlier.user_id) == (product.product_id, quantity, user_id):
                    return earlier
                raise KunciTerpakai(key)
            if quantity > product.stok:  # compared here, because SQLite takes no number beyond 64 bits
                raise StokKurang(product)
            database.execute("UPDATE produk SET stok = stok - ? WHERE product_id = ?", (quantity, product.product_id))
            number = f"ORD{database.execute('SELECT count(*) FROM pesanan').fetchone()[0] + _FIRST_ORDER}"
            database.execute(
                "INSERT INTO pesanan (nomor, kunci, user_id, product_id, quantity, total) VALUES (?, ?, ?, ?, ?, ?)",
                (number, key, user_id, product.product_id, quantity, product.harga * quantity),
            )
            return _order(database, "nomor", number)

    @contextmanager
    def _open(self, wait: float = _WAIT) -> Generator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=wait, isolation_level=None)) as database:
            match _version(database):
                case 0:
                    _create(database)
                case int(other) if other != _VERSION:
                    raise ConfigurationError(
                        f"the catalogue {self.path} has version {other}, this tukang reads {_VERSION}: move it away"
                    )
                case _:
                    pass
            yield database


def default_path() -> Path:
    """`toko.db` in `data_folder()`."""
    return data_folder() / "toko.db"


def data_folder() -> Path:
    """Where tukang keeps what must not be lost: `TUKANG_DATA`, `$XDG_DATA_HOME/tukang` or `~/.local/share/tukang`.

    Raises:
        ConfigurationError: it is in a home folder that the system does not know.
    """
    own, base = os.environ.get("TUKANG_DATA"), os.environ.get("XDG_DATA_HOME")
    try:
        if own:
            return Path(own).expanduser()
        return (Path(base).expanduser() if base else Path.home() / ".local" / "share") / "tukang"
    except RuntimeError as error:
        raise ConfigurationError(
            "there is no home folder to keep data in: set TUKANG_DATA to the whole path of a folder that can be written to"
        ) from error


def made_data_folder() -> Path:
    """The folder of `data_folder`, made where it was not there.

    Raises:
        ConfigurationError: it cannot be made.
    """
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(f"the data folder {folder}", error.strerror) from error
    return folder


def unusable(place: object, why: object) -> ConfigurationError:
    """What is said where something cannot be kept in the data folder."""
    return ConfigurationError(f"{place} cannot be used: {why}. Set TUKANG_DATA to a folder that can be written to")


_ORDER = "nomor, user_id, product_id, quantity, total, status, dibuat"


@contextmanager
def _writing(database: sqlite3.Connection) -> Generator[None]:
    """One transaction that holds the file's write lock from its beginning, so that what it reads stays true."""
    try:
        database.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        raise KatalogSibuk(str(error)) from error
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _create(database: sqlite3.Connection) -> None:
    with _writing(database):
        if _version(database) == _VERSION:  # somebody else was faster
            return
        for statement in _SCHEMA.split(";\n"):
            database.execute(statement)
        database.executemany("INSERT INTO produk VALUES (?, ?, ?, ?)", _PRODUCTS)
        database.execute(f"PRAGMA user_version = {_VERSION}")


def _product(database: sqlite3.Connection, product_id: str) -> Produk | None:
    row = database.execute(
        "SELECT product_id, nama, harga, stok FROM produk WHERE product_id = ?", (product_id.strip(),)
    ).fetchone()
    return None if row is None else Produk(*row)


def _order(database: sqlite3.Connection, column: str, value: str) -> Pesanan | None:
    row = database.execute(f"SELECT {_ORDER} FROM pesanan WHERE {column} = ?", (value,)).fetchone()
    return None if row is None else Pesanan(*row)
