"""The summary of a session's older part: asked of a model, added to, and kept with the session.

Only who has the floor of a session asks, before the turn begins: so there are never two at a time for one session, and what
is sent does not change while a turn runs. What is kept is written with compare-and-set besides: a process that was believed
dead, and is only slow, cannot put an older summary over a newer one.

One request folds some turns into the summary there is. A session that was very long before it got a summary catches up turn
by turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from time import monotonic
from typing import Any, cast

from tukang.conversation import user
from tukang.errors import ModelError
from tukang.loop.events import Language
from tukang.memory import wording
from tukang.memory.measuring import text_tokens
from tukang.memory.past import PastTurn
from tukang.memory.transcript import transcript
from tukang.memory.window import Digest, Summary
from tukang.models.base import Fold, Model, ModelRequest, Settings

LONGEST = 4_000
"""Characters of one text that are summed up; what is longer loses its middle."""

LONGEST_RESULT = 500

AT_ONCE = 30_000
"""Tokens that are summed up in one request."""

REST = 60.0
"""Seconds that no summary is asked for after one failed."""


class Summariser:
    """Asks a model for a summary.

    Args:
        model: who writes it.
        policy: how long it may be, and may take.
        language: of what the model is told.
    """

    def __init__(self, model: Model, policy: Summary, language: Language = "en") -> None:
        self._model = model
        self._policy = policy
        self._language: Language = language
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether one failed just now: a model that is down must not slow down each turn of each session."""
        return monotonic() < self._rests_until

    async def added(self, before: Digest | None, turns: Sequence[PastTurn]) -> Digest:
        """The summary with these turns in it, or with as many of the first of them as go into one request.

        Args:
            before: the summary so far.
            turns: those that follow it, at least one.

        Raises:
            ModelError: there is no summary, or none that can be used.
            TimeoutError: it took longer than `Summary.seconds`.
        """
        texts: list[str] = []
        room = AT_ONCE
        for turn in turns:
            text = transcript(turn, longest=LONGEST, longest_result=LONGEST_RESULT)
            room -= text_tokens(text)
            if room < 0 and texts:
                break
            texts.append(text)
        try:
            async with asyncio.timeout(self._policy.seconds):
                said = await self._ask(before.text if before else "", texts)
        except Exception:
            self._rests_until = monotonic() + REST
            raise
        return Digest(turns[len(texts) - 1].number, said)

    async def _ask(self, before: str, texts: Sequence[str]) -> str:
        words = self._policy.tokens // 2  # a word is more than one token, in most languages
        request = ModelRequest(
            instructions=wording.WORDS[self._language].summarise.format(words=words),
            messages=(user("\n\n".join([f"<summary>\n{before}\n</summary>", "<turns>", *texts, "</turns>"])),),
            settings=Settings(max_tokens=self._policy.tokens),
        )
        await self._model.prepare(request)
        fold = Fold()
        events = cast(Any, self._model.stream(request))
        async with aclosing(events):
            async for event in events:
                fold.add(event)
        reply = fold.reply()
        text = reply.text.strip()
        if not fold.ended or not text or reply.refusal or reply.finish in ("filtered", "refused", "paused"):
            raise ModelError("bad_response", f"{self._model.name} gave no summary: it ended with {reply.finish!r}")
        return text
