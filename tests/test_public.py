"""The names a user imports: documented, and typed for type checkers."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib.resources import files

import pytest

import tukang


def test_type_checkers_are_told_that_it_is_typed() -> None:
    assert (files("tukang") / "py.typed").is_file()


@pytest.mark.parametrize("name", tukang.__all__)
def test_every_public_name_and_its_members_say_what_they_are(name: str) -> None:
    public = getattr(tukang, name)
    assert inspect.getdoc(public)
    members = vars(public).items() if inspect.isclass(public) else ()
    for member, value in members:
        if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod | staticmethod)):
            assert inspect.getdoc(getattr(public, member)), f"{name}.{member} has no docstring"


def test_what_type_checkers_read_is_what_python_gets() -> None:
    read = {
        name.name: statement.module
        for statement in ast.walk(ast.parse(inspect.getsource(tukang)))
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("tukang.")
        for name in statement.names
    }
    assert read == tukang._FROM
    assert sorted(read) == tukang.__all__
    assert set(tukang.__all__) <= set(dir(tukang))
    with pytest.raises(AttributeError, match="has no attribute 'Agnet'"):
        tukang.Agnet  # type: ignore[attr-defined]  # noqa: B018


def test_the_names_come_with_a_star_and_not_before_they_are_asked_for() -> None:
    program = """
import sys, tukang
assert not [name for name in sys.modules if name.startswith("tukang.")], "loaded before anybody asked"
from tukang import *
assert not set(tukang.__all__) - set(globals())
assert Agent is tukang.Agent
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
