"""Effects and the events that record them."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tukang.loop.effects import Effect, RunCall, begun
from tukang.loop.events import CallStarted


def made(kind: Any) -> Any:
    """An effect with a value of its own in each field."""
    return kind(**{name: f"{kind.__name__}.{name}" for name in kind.__struct_fields__})


@pytest.mark.parametrize("kind", get_args(Effect))
def test_an_effect_is_recorded_with_all_that_it_says(kind: Any) -> None:
    effect = made(kind)
    event = begun(effect, 2.0)
    assert event.at == 2.0
    assert {name: getattr(event, name) for name in kind.__struct_fields__} == {
        name: getattr(effect, name) for name in kind.__struct_fields__
    }
    assert set(event.__struct_fields__) == {*kind.__struct_fields__, "at"}


def test_the_event_is_a_fact_of_its_own() -> None:
    assert begun(RunCall("t-1-0", "key"), 3.0) == CallStarted(at=3.0, call="t-1-0", key="key")
