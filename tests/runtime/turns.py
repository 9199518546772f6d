"""A turn put together by hand, for tests of the driver without an agent around it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tukang.conversation import user
from tukang.loop.events import TurnStarted
from tukang.loop.limits import Limits
from tukang.models.base import Model
from tukang.runtime.turn import Turn
from tukang.tools.toolbox import Toolbox


def turn_of(model: Model, tools: Iterable[Any], limits: Limits) -> Turn:
    """What a driver runs."""
    toolbox = Toolbox.of(tools)
    started = TurnStarted(
        at=0.0,
        turn="t",
        trigger=user("go"),
        limits=limits,
        policies=toolbox.policies,
        contracts={contract.name: contract.digest for contract in toolbox.contracts},
        models=(model.name,),
    )
    return Turn(started, (model,), toolbox)
