"""Whatever comes in place of a request is taken or refused, and nothing else happens."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mock.test_requests import GOOD, put, read
from tukang.mock.values import Refused

KEYS = ["type", "role", "content", "text", "name", "id", "parts", "toolUse", "functionCall", "function", "input"]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "x", "user", "tool", "t1", "function"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, one in inner for place in places(one, (*way, key)))]


@pytest.mark.parametrize("protocol", GOOD)
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_comes_is_taken_or_refused(protocol: str, data: st.DataObject) -> None:
    body = copy.deepcopy(GOOD[protocol][1])
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from(places(body)[1:] or [("x",)]))
        put(*way, last, data.draw(JUNK | st.just(...)))(body)
    taken = refusal = None
    try:
        taken = read(protocol, body)
    except Refused as refused:
        refusal = refused.fault
    assert taken is not None or (refusal is not None and 400 <= refusal.status < 500 and refusal.message)
