"""From what the user typed to an agent: a shipped assistant, or `module:name` of their own. Builds; runs nothing."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tukang.agent import Agent
from tukang.assistants import ASSISTANTS, Assistant, find
from tukang.errors import ConfigurationError, TukangError
from tukang.models.base import Model
from tukang.models.names import Choice, choose
from tukang.tools.failure import words
from tukang.tools.names import nearest

if TYPE_CHECKING:
    from tukang.models.local import Loading

Tell = Callable[["Loading"], None]


class Target(msgspec.Struct, frozen=True):
    """An agent to run.

    Args:
        name: as the user typed it.
        agent: the agent.
        why: why it has the model it has, in one sentence.
        context: the caller, to be passed to each turn.
        knows_callers: whether it asks who is calling.
    """

    name: str
    agent: Agent
    why: str
    context: Any = None
    knows_callers: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the agent's models, the first choice first."""
        return tuple(model.name for model in self.agent.models)


def open_target(
    name: str, *, model: str | Model | None = None, user: str | None = None, tell: Tell | None = None
) -> Target:
    """Build what the user named.

    Args:
        name: `toko`, or `my_module:agent`: an `Agent`, or a function that returns one and may take `model`. Modules are also
            looked for in the working directory.
        model: as for `Agent`.
        user: who is asking; only for assistants that ask.
        tell: told how far the local model is, where that is used.

    Raises:
        ConfigurationError: it cannot be found, is no agent, or does not know users.
    """
    if ":" not in name:
        assistant = _shipped(name)
        context = assistant.context(user)
        choice = choose_telling(model, tell)
        agent = assistant.agent(choice.model)
        return Target(name, agent, choice.why, context, assistant.caller is not None)
    if user is not None:
        raise ConfigurationError(f"{name} has no caller: --user is for {_with_callers()}")
    found = imported(name)
    agent, why = _as_agent(name, found, model, tell)
    return Target(name, agent, why)


def _shipped(name: str) -> Assistant:
    try:
        return find(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}; an agent of your own is named module:name") from error


def choose_telling(model: str | Model | None, tell: Tell | None) -> Choice:
    """As `choose`; a local model tells how far it is."""
    choice = choose(model)
    if tell is not None and choice.model.provider == "local":
        from tukang.models.local import LocalModel

        if isinstance(choice.model, LocalModel):
            path = choice.model.name.partition(":")[2] or None
            return Choice(LocalModel(path, progress=tell), choice.why)
    return choice


def _as_agent(name: str, found: Any, model: str | Model | None, tell: Tell | None) -> tuple[Agent, str]:
    if callable(found) and not isinstance(found, Agent):
        taken = _parameters(name, found).get("model")
        if taken is not None and (model is not None or taken.default is taken.empty):
            choice = choose_telling(model, tell)
            return _checked(name, _made(name, found, model=choice.model)), choice.why
        found = _made(name, found)
    agent = _checked(name, found)
    if model is None:
        return agent, agent.why_model
    choice = choose_telling(model, tell)
    return agent.with_model(choice.model), choice.why


def _made(name: str, function: Callable[..., Any], **given: Any) -> Any:
    """What a function of the user's returns; a mistake in it is theirs, and is said to be."""
    try:
        return function(**given)
    except (Exception, SystemExit) as error:
        raise _theirs(error, f"{name} made no agent") from error


def _theirs(error: BaseException, what: str) -> TukangError:
    """An error of the user's own code as one that says so; one of ours, which says how to mend it, as it is."""
    if isinstance(error, TukangError):
        return error
    return ConfigurationError(f"{what}: {words(error)}; with --debug it is shown where")


def _parameters(name: str, found: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function that is to make an agent."""
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):  # some that are built in have none
        return {}
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    wanted = [one.name for one in parameters.values() if one.default is one.empty and one.kind not in variable]
    if unknown := [parameter for parameter in wanted if parameter != "model"]:
        raise ConfigurationError(
            f"{name} wants {', '.join(unknown)}: expected a tukang.Agent, or a function that returns one and takes nothing "
            "but model"
        )
    return parameters


def _checked(name: str, found: object) -> Agent:
    if isinstance(found, Agent):
        return found
    if inspect.iscoroutine(found):
        found.close()
    raise ConfigurationError(
        f"{name} is a {type(found).__qualname__}: expected a tukang.Agent, or a function that returns one"
    )


def imported(name: str) -> Any:
    """What stands under a name in a module, as `module:name`; the module may be in the working directory.

    Raises:
        ConfigurationError: there is no such module, it cannot be imported, or there is nothing of that name in it.
    """
    module_name, _, attribute = name.partition(":")
    if not all(module_name.split(".")) or not attribute:
        raise ConfigurationError(f"{name!r} is not module:name")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigurationError(
                f"{module_name} cannot be imported: it needs {error.name}, which is not installed"
            ) from error
        raise ConfigurationError(
            f"there is no module {module_name!r}, neither in {here} nor installed. Write module:name, without .py"
        ) from error
    except (Exception, SystemExit) as error:
        raise _theirs(error, f"{module_name} cannot be imported") from error
    value: Any = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            agents = [known for known, it in vars(module).items() if isinstance(it, Agent)]
            near = agents or list(nearest(attribute, dir(module)))
            meant = f" Did you mean {module_name}:{near[0]}?" if near else ""
            raise ConfigurationError(f"module {module_name!r} has no {attribute!r}.{meant}")
        value = getattr(value, part)
    return value


def _with_callers() -> str:
    return ", ".join(name for name, assistant in ASSISTANTS.items() if assistant.caller)
