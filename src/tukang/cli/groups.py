"""What the groups of commands have in common: how a group is made, and how a list of what is kept is shown.

It knows no group and no list; what they hold is said by who calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import typer

from tukang.cli import exits
from tukang.cli.document import written
from tukang.cli.screen import Screen

T = TypeVar("T")


def group(about: str) -> typer.Typer:
    """A group of commands, which shows what there is when none of them is named."""
    return typer.Typer(help=about, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def show_list(
    found: Sequence[T],
    *,
    as_json: bool,
    data: Callable[[Sequence[T]], Any] = list,
    text: Callable[[Sequence[T]], str],
    none: str,
) -> int:
    """Show a list, and give the exit code.

    Args:
        found: what there is.
        as_json: whether one JSON document is wanted, also of nothing.
        data: what stands in that document; the things themselves unless said otherwise.
        text: the list for reading.
        none: what is said, beside the output, where there is nothing to read.
    """
    screen = Screen()
    if as_json:
        screen.whole(written(data(found)))
    elif found:
        screen.whole(text(found))
    else:
        screen.note((none, "dim"))
    return exits.ANSWERED
