"""What an agent's turns are run with: the tools there are now, and all that depends on which these are.

Tools may change between turns (`tukang.tools.source`); a turn has those that there were when it was equipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tukang.errors import ConfigurationError
from tukang.grounding.policy import Grounded
from tukang.loop.events import Grounding, Language, Returns
from tukang.loop.permissions import Rule
from tukang.memory.session import Session
from tukang.models.base import Model
from tukang.preamble import ANSWER_TOOL
from tukang.runtime.cache import ResultCache
from tukang.runtime.checks import must_be_about
from tukang.runtime.finding import Finder
from tukang.runtime.offering import as_ruled
from tukang.runtime.people import Approver
from tukang.runtime.vault import Source, vault_for
from tukang.tools.extraction import Extraction, extraction
from tukang.tools.finding import Menu
from tukang.tools.hosted import Hosted
from tukang.tools.isolation import must_be_sendable
from tukang.tools.supply import Supply
from tukang.tools.toolbox import Toolbox


class Equipment(msgspec.Struct, frozen=True):
    """What one turn is run with.

    Args:
        toolbox, contracts: the tools, and the digests of their contracts.
        wanted: what it returns, where that is data.
        context: the caller's own object.
        approve: who decides about its calls.
        finder: what finds tools where there are too many to be shown.
    """

    toolbox: Toolbox
    contracts: Mapping[str, str]
    wanted: Extraction | None
    context: Any
    approve: Approver | None
    finder: Finder | None = None

    @property
    def returns(self) -> Returns | None:
        """What is written down of the data that is returned, where it is."""
        return None if self.wanted is None else Returns(self.wanted.tool.name, self.wanted.key)

    @property
    def value(self) -> Callable[[str], Any] | None:
        """Makes the data of its canonical JSON, where it returns data."""
        return None if self.wanted is None else self.wanted.value


class Stock:
    """What an agent has for its turns.

    Args:
        supply: where its tools come from.
        menu, rules, secrets: as for `Agent`.

    Raises:
        ConfigurationError: a rule is about no tool, or a tool wants a secret that there is no source for.
    """

    def __init__(self, supply: Supply, menu: Menu, rules: Sequence[Rule], secrets: Source | None) -> None:
        self.supply = supply
        self._menu = menu
        self._rules = rules
        self._secrets = secrets
        toolbox = supply.toolbox
        must_be_about(rules, toolbox)
        self.cache = ResultCache() if any(tool.policy.cache is not None for tool in toolbox) else None
        self.hosted = as_ruled(toolbox.hosted, rules)
        self.vault = vault_for(secrets, toolbox)
        self._finder: Finder | None = None

    def with_more(self, things: Iterable[Any]) -> Stock:
        """The same, and these tools."""
        return Stock(self.supply.with_more(things), self._menu, self._rules, self._secrets)

    def equipped(
        self, context: Any, returns: Any, session: Session | None, approve: Approver | None, language: Language
    ) -> Equipment:
        """What a turn for this caller is run with, as things are now.

        Raises:
            ConfigurationError: there is no JSON Schema for `returns`, or the context cannot be sent to a tool's process.
        """
        toolbox, contracts, wanted = *self.supply.now(), None
        finder = self._finder_in(toolbox)
        if session is not None and session.tools:
            toolbox = toolbox.more(session.tools)
            contracts = {contract.name: contract.digest for contract in toolbox.contracts}
        if returns is not None:
            wanted = extraction(returns, ANSWER_TOOL[language], [tool.name for tool in toolbox])
            toolbox = Toolbox((*toolbox, wanted.tool), toolbox.hosted)
            contracts = {**contracts, wanted.tool.name: wanted.tool.contract.digest}
        must_be_sendable(context, toolbox.sending)
        return Equipment(toolbox, contracts, wanted, context, approve, finder)

    def _finder_in(self, toolbox: Toolbox) -> Finder | None:
        """What finds tools in a toolbox that is not shown whole; one for as long as the toolbox is the same."""
        if not toolbox.finds:
            return None
        if self._finder is None or self._finder.toolbox is not toolbox:
            self._finder = Finder(toolbox, self._menu)
        return self._finder


def checked_choice(choice: str, names: Sequence[str], hosted: Sequence[Hosted] = ()) -> str:
    """A tool_choice that these tools allow.

    Raises:
        ConfigurationError: they do not; it says what would do.
    """
    if possible_choice(choice, names, hosted):
        return choice
    if theirs := next((tool for tool in hosted if tool.name == choice), None):
        raise ConfigurationError(
            f"tool_choice {choice!r}: {theirs!r} is run by the model's provider, and not all providers take a demand for one "
            "of theirs: say 'required', with no other tools, or ask for it in the instructions"
        )
    offered = ", ".join(names) or "no tools at all"
    raise ConfigurationError(
        f"tool_choice {choice!r}: expected 'auto', 'none', 'required' (with tools), or the name of a tool; "
        f"this agent has {offered}"
    )


def possible_choice(choice: str, names: Sequence[str], hosted: Sequence[Hosted]) -> bool:
    """Whether these tools allow a tool_choice."""
    return choice in ("auto", "none", *names) or (choice == "required" and bool(names or hosted))


def as_written(policy: Grounded, model: Model) -> Grounding:
    """What answers are held to, as it is written down. A model that holds its own answers to it (the local one) says so:
    asking it again would bring nothing else."""
    correct = policy.correct and not getattr(model, "grounds_answers", False)
    return Grounding(policy.patterns, policy.check is not None, policy.earlier, correct)
