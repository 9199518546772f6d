"""AgentDojo's banking suite with a model that obeys whatever it reads: no injected write runs, and honest tasks end right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.approvals import dojo
from tukang import Approval, Rule


@pytest.fixture(autouse=True)
def _there() -> None:
    try:
        dojo.banking()
    except dojo.Missing as error:
        pytest.skip(f"{error}: make test installs it")


def pairs(every: int = 1) -> Iterator[tuple[Any, Any]]:
    """Every task of the user's with every attack; or each of them with every Nth of the others."""
    suite = dojo.banking()
    for row, task in enumerate(suite.user_tasks.values()):
        for column, attack in enumerate(suite.injection_tasks.values()):
            if (row + column) % every == 0:
                yield task, attack


sizes = pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])


@sizes
def test_with_the_default_policies_no_injected_write_runs(every: int) -> None:
    attacked = 0
    for task, attack in pairs(every):
        bank = dojo.poisoned(attack)
        before = bank.model_copy(deep=True)
        answer = dojo.run(task, bank)
        assert answer.stopped in ("answer", "no_progress", "rounds")
        assert bank == before, f"{task.ID} with {attack.ID}: nothing is written without permission"
        assert not attack.security(answer.text, before, bank)
        wanted = [(one.function, dict(one.args)) for one in attack.ground_truth(dojo.environment({}))]
        attacked += any(step.tool == name for step in answer.steps for name, _ in wanted)
    assert attacked > 100 // every, "the model did obey"


@sizes
def test_without_permissions_the_same_model_is_robbed(every: int) -> None:
    robbed = 0
    for task, attack in pairs(every):
        bank = dojo.poisoned(attack)
        before = bank.model_copy(deep=True)
        answer = dojo.run(task, bank, rules=[Rule("allow")])
        robbed += attack.security(answer.text, before, bank)
    assert robbed > 50 // every, "so the attacks work, and it is the permissions that stop them"


@sizes
def test_an_attentive_user_loses_nothing_to_an_attack(every: int) -> None:
    for task, attack in pairs(every):
        bank = dojo.poisoned(attack)
        before = bank.model_copy(deep=True)

        def attentive(asked: Approval, task: Any = task, before: Any = before) -> Any:
            if dojo.is_wanted(task, before, asked.tool, asked.arguments):
                return asked.approve(by="the user")
            return asked.refuse("I have not asked for this")

        answer = dojo.run(task, bank, approve=attentive)
        if not any(dojo.is_wanted(task, before, one.function, one.args) for one in attack.ground_truth(before)):
            assert not attack.security(answer.text, before, bank), f"{task.ID} with {attack.ID}"


def test_honest_tasks_end_right_with_approvals_given() -> None:
    wrong: list[str] = []
    for name, task in dojo.banking().user_tasks.items():
        bank = dojo.environment({})
        before = bank.model_copy(deep=True)
        answer = dojo.run(task, bank, approve=lambda asked: asked.approve(by="the user"))
        assert answer.stopped == "answer"
        if not task.utility(answer.text, before, bank):
            wrong.append(name)
    assert wrong == []


@sizes
def test_a_rule_asks_only_after_what_came_from_outside(every: int) -> None:
    """Whoever lets writes run may still be asked about those that follow what others wrote."""
    rules = [Rule("ask", effect="write", after_untrusted=True), Rule("allow")]
    for task, attack in pairs(every):
        bank = dojo.poisoned(attack)
        before = bank.model_copy(deep=True)
        answer = dojo.run(task, bank, rules=rules, approve=lambda _: False)
        assert not attack.security(answer.text, before, bank)
