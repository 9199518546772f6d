"""How far getting the local model ready is, as the user sees it. Called from whatever thread the model loads in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tukang.cli.screen import Screen
from tukang.cli.texts import Texts

if TYPE_CHECKING:
    from tukang.models.local import Loading

_STEP = 25
"""Percent between two lines where nothing can move on the screen."""


def progress(screen: Screen, texts: Texts) -> Callable[[Loading], None]:
    """A callback for `LocalModel`: a line that moves on a terminal, a few lines elsewhere."""
    stages = {"joining": texts.joining, "loading": texts.loading, "warming": texts.warming}
    told: set[tuple[str, int]] = set()

    def tell(loading: Loading) -> None:
        percent = 100 * loading.done // loading.total if loading.total else 0
        said = stages[loading.stage] + (f" {percent} %" if loading.total else "") + " …"
        if screen.moves:
            screen.busy(said)
            return
        mark = (loading.stage, percent // _STEP if loading.stage == "joining" else 0)
        if mark not in told:
            told.add(mark)
            screen.note((said if loading.stage == "joining" else stages[loading.stage] + " …", "dim"))

    return tell
