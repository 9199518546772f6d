"""What a command says, as it comes, with a bound: its beginning and its end are kept, and what lies between is counted."""

from __future__ import annotations

from tukang.machine.terminal import plain


class Capture:
    """Takes bytes, gives text.

    Args:
        most: bytes that are kept.
    """

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.length = 0

    def add(self, data: bytes) -> None:
        """Take more in."""
        self.length += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 4 * self._half:  # cut now and then, so that each byte is moved a few times at most
            del self._tail[: -self._half]

    def text(self) -> str:
        """What there is, as plain text; bytes that are not UTF-8 are shown as such."""
        tail = bytes(self._tail[-self._half :])
        left_out = self.length - len(self._head) - len(tail)
        if left_out <= 0:
            return plain((bytes(self._head) + tail).decode("utf-8", "backslashreplace"))
        first, last = (plain(part.decode("utf-8", "backslashreplace")) for part in (bytes(self._head), tail))
        return f"{first}\n[… {left_out} bytes left out …]\n{last}"
