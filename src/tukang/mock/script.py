"""What comes next: one script, and a place in it for each client.

A client is named in the path, before the protocol's own part: `http://127.0.0.1:8123/toko-7/v1/chat/completions` is the
client `toko-7`. Each name begins at the first reply, so a fleet of tests shares one server; clients without a name share one
place. A request that is refused takes nothing from the script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tukang.mock.echo import echo
from tukang.mock.values import Asked
from tukang.models.scripted import Fails, Says


class Script:
    """Replies in order, for each client.

    Args:
        replies: the replies; a function from the request to its reply; None for `tukang.mock.echo`.
        repeat: whether the last reply is said again and again when the script is at its end.
    """

    def __init__(
        self, replies: Sequence[Says] | Callable[[Asked], Says] | None = None, *, repeat: bool = False
    ) -> None:
        self._replies = echo if replies is None else replies if callable(replies) else tuple(replies)
        self._repeat = repeat
        self._places: dict[str, int] = {}

    def next(self, client: str, asked: Asked) -> Says:
        """The reply to this request of this client; a fault when the script is at its end."""
        if callable(self._replies):
            return self._replies(asked)
        place = self._places.get(client, 0)
        self._places[client] = place + 1
        if place < len(self._replies):
            return self._replies[place]
        if self._repeat and self._replies:
            return self._replies[-1]
        whose = f" of {client!r}" if client else ""
        return Says(
            fails=Fails(
                "bad_request",
                f"the script has {len(self._replies)} replies, and request {place + 1}{whose} wants another",
            )
        )
