"""From a schema and a function to a tool that providers know in a form of their own."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from tukang.errors import ConfigurationError
from tukang.tools.adopting import as_tool
from tukang.tools.contract import Defined
from tukang.tools.policy import PolicyOptions
from tukang.tools.signature import Function
from tukang.tools.tool import Tool, tool


def made(
    name: str, description: str, schema: Mapping[str, Any], function: Function, defined: Defined, policy: PolicyOptions
) -> Tool:
    """A tool under this contract.

    Args:
        name, description, schema: what the model sees; the schema is of its arguments.
        function: what runs; it takes the arguments by name, and may take a `CallContext`.
        defined: which of the tools it is that models were trained on.
        policy: how it may run; None for `approval` is what its effect says.
    """
    contract = {"name": name, "description": description, "parameters": schema}
    said = cast("PolicyOptions", {word: value for word, value in policy.items() if value is not None})
    whole = as_tool(tool((contract, function), **said))
    return dataclasses.replace(whole, contract=replace(whole.contract, defined=defined))


def folder(path: str | Path, whose: str) -> Path:
    """A directory that a tool may have.

    Raises:
        ConfigurationError: it is not there, no directory, or the whole machine.
    """
    place = Path(path).expanduser().resolve()
    if not place.is_dir():
        raise ConfigurationError(f"{whose}: {path} is not a directory: make it, or name another")
    if place == Path(place.anchor):
        raise ConfigurationError(f"{whose}: {path} is the whole machine: name a directory that it may have")
    return place


def program(name: str, package: str, whose: str) -> str:
    """Where a program is.

    Args:
        name: the program.
        package: the package of Debian's that it is in.
        whose: what needs it.

    Raises:
        ConfigurationError: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise ConfigurationError(
            f"{whose} needs {name}, which is not on this machine: install it (Debian and Ubuntu: apt install {package})"
        )
    return found
