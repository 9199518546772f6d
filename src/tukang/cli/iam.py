"""`tukang tools iam`: the IAM policy of who runs an assistant, or of the function that hosts its tools, as JSON on stdout."""

from __future__ import annotations

import os

import msgspec

from tukang.cli import exits
from tukang.cli.document import written
from tukang.cli.iam_texts import IamTexts
from tukang.cli.screen import Screen
from tukang.cli.target import open_target
from tukang.models.scripted import Scripted


class Wanted(msgspec.Struct, frozen=True):
    """What the user said.

    Args:
        model: the model that is to be asked; the agent's own if None.
        region, account: where.
        asks: the ARN of a state machine through which people are asked.
        hosted: the ARN of a Lambda function that hosts the tools: then the policy is its role's.
        log_table: where that function writes calls with a key down.
    """

    model: str | None = None
    region: str | None = None
    account: str | None = None
    asks: str | None = None
    hosted: str | None = None
    log_table: str | None = None


def show(target: str, wanted: Wanted, screen: Screen, texts: IamTexts) -> int:
    """Print the policy.

    Raises:
        ConfigurationError: there is no such target, or a name lacks its region or account.
    """
    from tukang.hosting import iam  # it brings what most commands do not need

    # a function that hosts tools asks no model; and an assistant that is shipped has whichever there is
    own = None if ":" in target and not wanted.hosted else Scripted([])
    agent = open_target(target, model=wanted.model or own).agent
    region = wanted.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    statements = iam.for_tools(agent.toolbox, agent.toolbox.hosted)
    if wanted.hosted:
        statements += iam.for_host(wanted.hosted, wanted.log_table)
    else:
        names = [model.name for model in agent.models]
        statements += iam.for_models(names, iam.Place(region, wanted.account))
    if wanted.asks:
        statements += iam.for_channel(wanted.asks)
    screen.whole(written(iam.policy(statements)))
    if not statements:
        screen.note((texts.nothing, "dim"))
    return exits.ANSWERED
