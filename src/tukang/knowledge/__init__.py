"""Documents, found by question: taken in from files, cut into passages, searched by full text and vectors, cited.

`Knowledge` is what a user builds; the extra `knowledge` brings what it needs. Nothing is imported before it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tukang.knowledge.answering import Cited
    from tukang.knowledge.errors import DocumentError
    from tukang.knowledge.knowledge import Knowledge
    from tukang.knowledge.values import Document, Hit, Outcome, Step

__all__ = ["Cited", "Document", "DocumentError", "Hit", "Knowledge", "Outcome", "Step"]

_HOMES = {
    "Cited": "answering",
    "Document": "values",
    "DocumentError": "errors",
    "Hit": "values",
    "Knowledge": "knowledge",
    "Outcome": "values",
    "Step": "values",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
