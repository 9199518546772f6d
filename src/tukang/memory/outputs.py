"""Long results of a session's tools, kept in its store: they can be read on from in later turns, and after a crash."""

from __future__ import annotations

from tukang.memory.redaction import Redaction
from tukang.memory.stores.base import Store
from tukang.memory.stores.values import Lease
from tukang.tools.outputs import Slice


class StoredOutputs:
    """`tukang.tools.outputs.Outputs` in a store, for one turn.

    Secrets are taken out before a result is written, so an offset into a result that held one may be off by as many
    characters.

    Args:
        store: where they are kept.
        lease: the right to write to the session.
        turn: the turn's id; it must have begun.
        redaction: what is taken out.
    """

    def __init__(self, store: Store, lease: Lease, turn: str, redaction: Redaction) -> None:
        self._store = store
        self._lease = lease
        self._turn = turn
        self._redaction = redaction

    async def keep(self, handle: str, text: str, page: int) -> bool:
        """Keep a result, however long."""
        await self._store.keep_output(self._lease, self._turn, handle, self._redaction.text(text), page)
        return True

    async def read(self, handle: str, offset: int) -> Slice | None:
        """A page and one character more, of a result of any turn of the session."""
        return await self._store.read_output(self._lease.session, handle, offset)
