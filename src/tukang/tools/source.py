"""Where tools come from that are not known for good: another server, whose list may change while the program runs.

A turn has the tools that there were when it began. Between turns an agent looks whether there are others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from tukang.tools.tool import Tool


class ToolSource(ABC):
    """Something to give to an agent among its tools, that stands for several."""

    @abstractmethod
    def tools(self, taken: Collection[str] = ()) -> Sequence[Tool]:
        """The tools that there are now. The first time it may take a while.

        Args:
            taken: names that its tools may not have.

        Raises:
            ConfigurationError: they cannot be had, and that is not to be passed over.
        """

    @abstractmethod
    def look(self) -> int:
        """A number that is another one when `tools` would be others. At once: it is asked before each turn."""
