"""Calls after the first of a turn: which must come now, which come again, and which nobody asked for. Pure.

A small model likes to go on: after a price was looked up it orders what was only asked about. So a tool that was not used in
this turn has to stand on something of the request that is still open: a word or a figure that occurs neither in the calls
made so far nor in their results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tukang.models.local.grounding import content_words
from tukang.models.local.view import Step, View
from tukang.tools.contract import Contract

_JOINING = frozenset(
    re.findall(
        r"\w+",
        "untuk yang dari dengan juga lalu jika kalau saya kami akan sudah bisa tolong "
        "with from then that this your have please",
    )
)
"""Words that say nothing about what is asked for."""

_STEM = 4
"""Letters by which words are compared: `pesanan` is asked for by "pesan"."""


def did_nothing(step: Step) -> bool:
    """Whether the function said for certain that it did nothing."""
    return '"kind":"nothing_done"' in step.result


def tried_twice(view: View, key: str) -> bool:
    """Whether a call that did nothing was made again already, or just now."""
    return sum(step.key == key for step in view.steps) > 1 or bool(view.steps and view.steps[-1].key == key)


def wanted_first(view: View, tools: Sequence[Contract]) -> Contract | None:
    """The tool that the last call, which did nothing, asked for in its hint; None when it named none, or several."""
    if not view.steps or not did_nothing(view.steps[-1]):
        return None
    done = {step.name for step in view.steps}
    named = [tool for tool in tools if tool.name not in done and tool.name in view.steps[-1].result]
    return named[0] if len(named) == 1 else None


def put_off(view: View, tools: Sequence[Contract]) -> Step | None:
    """A call that waited for another one, now that this has succeeded: it is made again as it was. The function itself
    still decides whether it does anything."""
    if len(view.steps) < 2 or '"error"' in view.steps[-1].result:
        return None
    waiting, latest = view.steps[-2], view.steps[-1]
    wanted = did_nothing(waiting) and latest.name in waiting.result and waiting.name != latest.name
    once = sum(step.key == waiting.key for step in view.steps) == 1
    return waiting if wanted and once and any(tool.name == waiting.name for tool in tools) else None


def asked_for(view: View, name: str, decided: str) -> bool:
    """Whether a decided call rests on the request. The first call does, and so does a tool that is in use.

    Args:
        view: the conversation.
        name: the tool's.
        decided: what the model says is still to do, and the values it wrote.
    """
    if not view.steps or any(step.name == name for step in view.steps):
        return True
    done = _stems(*(step.line for step in view.steps))
    return bool(_stems(decided) & (_stems(view.request) - done))


def _stems(*texts: str) -> set[str]:
    plain = [re.sub("_", " ", text) for text in texts]
    return {word[:_STEM] if word.isalpha() else word for word in content_words(*plain) - _JOINING}
