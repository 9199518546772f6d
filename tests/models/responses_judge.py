"""What the `openai` SDK's own request types say of a request to `/v1/responses`: the judge is theirs, not ours.

The SDK only declares its types; here they are checked, with every field that they do not name refused.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, cast

import openai.types.responses as declared
import openai.types.shared_params as shared
from openai.types.responses import response_create_params, response_input_item_param
from pydantic import ConfigDict, TypeAdapter


@functools.cache
def _adapter(stream: bool) -> TypeAdapter[Any]:
    for module in (declared, shared, response_create_params, response_input_item_param):
        for one in vars(module).values():
            if isinstance(one, type) and hasattr(one, "__required_keys__"):
                cast(Any, one).__pydantic_config__ = ConfigDict(extra="forbid")
    streaming = response_create_params.ResponseCreateParamsStreaming
    return TypeAdapter(streaming if stream else response_create_params.ResponseCreateParamsNonStreaming)


def judge(body: Mapping[str, Any]) -> None:
    """Refuse what the SDK's types do not take.

    Raises:
        pydantic.ValidationError: says where.
    """
    _walk(_adapter(bool(body.get("stream"))).validate_python(body))


def _walk(value: Any) -> None:
    """Look at everything: what is declared as iterable is checked when it is looked at."""
    if isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            _walk(one)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for one in cast("Iterable[Any]", value):
            _walk(one)
