"""What is sent of what is kept: a window over a session's turns, as data, and the messages that come of it. Pure.

The store is never changed by it, and what is kept is never cut: another window over the same session shows something else.
A turn is sent whole, or with its old long results shortened, or not at all. So a call never loses its result, nor thinking
its reply.

How the room is shared, in tokens as `measuring` estimates them: three quarters of `Window.tokens` are for what was before,
which stays as it is for the whole turn; the running turn has the rest, and what was before and did not take its share.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tukang.conversation import Message, Text, user, validity
from tukang.loop.events import Language
from tukang.memory import wording
from tukang.memory.measuring import Size, message_tokens, tokens
from tukang.memory.past import PastTurn
from tukang.memory.shortening import short
from tukang.memory.steps import cut
from tukang.models.base import Model

TOKENS = 64_000
"""Half of the smallest context in wide use among hosted models (128k). The other half is for instructions, tools, the reply,
and for the estimate where it is too low."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How the older part of a conversation is summarised.

    Args:
        model: who writes it, a name or a model; None for the agent's own. A small, fast one is good at it.
        tokens: the longest summary.
        seconds: how long a turn may wait for it. After that, and after any other failure, the turn goes on with the summary
            there is.

    Raises:
        ValueError: a bound is not positive.
    """

    model: str | Model | None = None
    tokens: int = 1_000
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"Summary.tokens must be at least 1, not {self.tokens!r}")
        if not self.seconds > 0:
            raise ValueError(f"Summary.seconds must be more than 0, not {self.seconds!r}")


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is sent of a session.

    Args:
        tokens: the whole conversation in one request, the running turn included; instructions and tools come on top. What was
            said just now is sent whole, however long. None for no bound: then a session that goes on for ever fails at the
            provider one day.
        turns: the last so many turns before the running one, at most. At each cut they become no fewer than two thirds, so
            that the beginning of what is sent stays the same for some turns. None for no bound.
        summary: what does not fit is summarised by a model; None: it is left out.
        pinned: messages of your own that are always sent first. They are not part of the session. A turn of the session is
            pinned with `Chat.pin`.
        recall: the model gets a tool that searches the whole session, and one that reads on in what it finds.

    Raises:
        ValueError: a bound is not positive; a summary without a bound that would ever call for it; `pinned` is not a valid
            conversation, or takes more than a quarter of `tokens`.
    """

    tokens: int | None = TOKENS
    turns: int | None = None
    summary: Summary | None = None
    pinned: tuple[Message, ...] = ()
    recall: bool = False

    def __post_init__(self) -> None:
        for name in ("tokens", "turns"):
            bound: int | None = getattr(self, name)
            if bound is not None and bound < 1:
                raise ValueError(f"Window.{name} must be at least 1 or None, not {bound!r}")
        if self.summary is not None and self.tokens is None and self.turns is None:
            raise ValueError(
                "Window.summary without tokens or turns: everything is sent, so nothing is ever summarised"
            )
        if faults := validity(self.pinned):
            raise ValueError(f"Window.pinned is not a valid conversation: {'; '.join(faults)}")
        if self.tokens is not None and (size := tokens(self.pinned)) > self.tokens // 4:
            raise ValueError(
                f"Window.pinned takes {size} of {self.tokens} tokens; a quarter is the most, so that there is room to talk"
            )


class Digest(msgspec.Struct, frozen=True):
    """The summary of a session's first turns, up to number `upto`."""

    upto: int
    text: str


class Seen(msgspec.Struct, frozen=True):
    """How the turns before are shown.

    Args:
        language: of the sentences that say what is not shown.
        reads_on: whether the model can read a shortened result on, by its handle.
        tool: the name of the tool that searches the session; None when there is none.
    """

    language: Language = "en"
    reads_on: bool = False
    tool: str | None = None


def room_before(window: Window, pins: Sequence[PastTurn], seen: Seen) -> int | None:
    """Tokens for the turns before, less what is always sent; None for no bound."""
    if window.tokens is None:
        return None
    share = window.tokens * 3 // 4
    always = tokens(window.pinned) + sum(size.short for size in sizes(pins, seen))
    if window.summary is not None:
        always += 2 * window.summary.tokens  # as they are estimated
    return max(share // 4, share - always)


def sizes(turns: Sequence[PastTurn], seen: Seen) -> list[Size]:
    """The sizes of turns."""
    return [Size(tokens(turn.messages), tokens(shortened(turn.messages, seen))) for turn in turns]


def shortened(messages: Sequence[Message], seen: Seen) -> list[Message]:
    """Messages with their long results shortened."""
    return [short(message, reads_on=seen.reads_on) for message in messages]


def before(
    turns: Sequence[PastTurn],
    window: Window,
    *,
    pins: Sequence[PastTurn] = (),
    digest: Digest | None = None,
    seen: Seen | None = None,
) -> tuple[Message, ...]:
    """The messages that are sent of the turns before the one that runs.

    Args:
        turns: those behind the digest, oldest first: all of them, or the newest (see `steps.enough`).
        window: the policy.
        pins: turns that are always sent, in order.
        digest: the summary of the first turns, where there is one.
        seen: how they are shown.

    Returns:
        A valid conversation: what the window pins, pinned turns that would not be sent otherwise, a note that says what is
        left out or sums it up, and the newest turns.
    """
    seen = seen or Seen()
    room = room_before(window, pins, seen)
    first = turns[0].number if turns else 1
    where = cut(sizes(turns, seen), first, room, window.turns)
    shown = [
        (turn.number, list(turn.messages) if turn.number >= where.whole else shortened(turn.messages, seen))
        for turn in turns
        if turn.number >= where.sent
    ]
    if turns and not shown and room is not None:
        shown = _spare(turns[-1], room, seen)
    begins = shown[0][0] if shown else where.sent
    apart = [turn for turn in pins if turn.number < begins]
    return (
        *window.pinned,
        *(message for turn in apart for message in shortened(turn.messages, seen)),
        *_note(digest, begins, seen, pinned=bool(apart)),
        *(message for _, messages in shown for message in messages),
    )


def _note(digest: Digest | None, begins: int, seen: Seen, *, pinned: bool) -> list[Message]:
    """What stands for the turns that are not shown, if there are any."""
    if digest is None:
        if begins == 1:
            return []
        return [user(wording.gap(seen.language, 1, begins - 1, pinned=pinned, tool=seen.tool))]
    text = wording.summary(seen.language, digest.upto, digest.text, seen.tool)
    if digest.upto + 1 < begins:
        text += "\n" + wording.gap(seen.language, digest.upto + 1, begins - 1, pinned=pinned, tool=None)
    return [user(text)]


def _spare(turn: PastTurn, room: int, seen: Seen) -> list[tuple[int, list[Message]]]:
    """The newest turn when it is too long even with shortened results: what was asked and what was answered."""
    asked, answered = turn.messages[0], turn.messages[-1]
    if asked.role != "user" or answered.role != "assistant" or answered.calls:
        return []
    if len(turn.messages) > 2:
        asked = Message("user", (*asked.parts, Text(wording.WORDS[seen.language].rest)))
    if message_tokens(asked) + message_tokens(answered) > room:
        return []
    return [(turn.number, [asked, answered])]
