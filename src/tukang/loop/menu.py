"""Which tools of a large toolbox a model is shown in a turn. Pure: what is in the menu once stays in it until the turn ends.

A turn begins with what was found for its message (`TurnStarted.menu`). What a search finds comes behind that, and so does
a tool that the model called by its name without being shown it. None is a menu of everything.
"""

from __future__ import annotations

from typing import Any

from tukang.loop.state import State


def with_more(state: State) -> dict[str, Any]:
    """What changes when the round ends: nothing where all that came of it is in the menu, or everything is."""
    if state.menu is None:
        return {}
    there = {*state.menu}
    came = [name for call in state.calls for name in (call.name, *(call.outcome.found if call.outcome else ()))]
    new = tuple([name for name in dict.fromkeys(came) if name not in there and name in state.policies])
    return {"menu": (*state.menu, *new)} if new else {}
