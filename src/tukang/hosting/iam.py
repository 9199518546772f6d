"""What an IAM identity must be allowed, and no more: for who runs an agent, and for a Lambda function that hosts its tools.

Works out policies from what is declared; asks nobody. What an author's own functions do with AWS is not known here, and not
in it.

Sources: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html (and list_awsstepfunctions,
list_amazonbedrock, list_bedrock-mantle, list_amazonbedrockagentcore, list_amazondynamodb, list_amazoncloudwatchlogs),
https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html (profiles, and the models behind them).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from tukang.approvals.states import MachineName
from tukang.approvals.step_functions import PREFIX
from tukang.errors import ConfigurationError
from tukang.hosting.lambda_tool import LambdaTool
from tukang.tools.hosted import Hosted
from tukang.tools.signature import innermost
from tukang.tools.tool import Tool

Statement = dict[str, Any]

_PARTITIONS = (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"), ("eusc-", "aws-eusc"), ("", "aws"))
_FUNCTION = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):lambda:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):function:(?P<name>[A-Za-z0-9_-]{1,140})(:.*)?"
)
_PROFILE = re.compile(r"(?:us|us-gov|eu|apac|jp|au|ca|in|sa|me|global)\.(?P<model>[a-z0-9-]+\..+)")
"""An inference profile of Bedrock's own: a geography before the id of a model, which itself begins with its maker."""

_MODELS = ("bedrock:", "bedrock-invoke:", "bedrock-responses:")


class Place(msgspec.Struct, frozen=True):
    """Where things are whose names do not say it.

    Args:
        region: None where that is not known.
        account: twelve digits; None where that is not known.
    """

    region: str | None = None
    account: str | None = None

    def arn(self, service: str, resource: str, *, why: str, region: str | None = None, owned: bool = True) -> str:
        """The ARN of something there.

        Raises:
            ConfigurationError: what it needs is not known.
        """
        lacking = [f"--{name}" for name, value in (("region", self.region), ("account", self.account)) if not value]
        lacking = [name for name in lacking if owned or name != "--account"]
        if lacking:
            raise ConfigurationError(f"{why} is named by its ARN, which needs {' and '.join(lacking)}: say it")
        partition = next(name for begins, name in _PARTITIONS if cast("str", self.region).startswith(begins))
        where = self.region if region is None else region
        return f"arn:{partition}:{service}:{where}:{self.account if owned else ''}:{resource}"


def policy(statements: Iterable[Statement]) -> dict[str, Any]:
    """A policy document."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def for_tools(tools: Iterable[Tool], hosted: Iterable[Hosted] = ()) -> list[Statement]:
    """Calling the functions that `LambdaTool`s name; and those, and the gateways, that Bedrock calls in the caller's name."""
    found = [arn for tool in tools if (arn := _function_of(tool))]
    theirs = [cast("str", one.options["arn"]) for one in hosted if one.kind == "aws"]
    functions = _sorted([*found, *(arn for arn in theirs if ":lambda:" in arn)])
    gateways = _sorted(arn for arn in theirs if ":lambda:" not in arn)
    return [
        *_allowed("CallTools", ["lambda:InvokeFunction"], functions),
        *_allowed("CallGateways", ["bedrock-agentcore:InvokeGateway"], gateways),
    ]


def for_models(names: Iterable[str], place: Place) -> list[Statement]:
    """Asking those of these models that are Bedrock's.

    Raises:
        ConfigurationError: the region, or for an inference profile the account, is not known.
    """
    plain: list[str] = []
    statements: list[Statement] = []
    for name in dict.fromkeys(name for name in names if name.startswith(_MODELS)):
        provider, _, model = name.partition(":")
        if provider == "bedrock-responses":
            project = place.arn("bedrock-mantle", "project/*", why=f"the project of {name}")
            statements += _allowed(f"Respond{len(statements)}", ["bedrock-mantle:CreateInference"], [project])
            statements += _allowed(f"ByToken{len(statements)}", ["bedrock-mantle:CallWithBearerToken"], ["*"])
        elif model.startswith("arn:") and ":foundation-model/" in model:
            plain.append(model)
        elif model.startswith("arn:"):
            statements += _through(model, model.rpartition("/")[2], len(statements))
        elif _PROFILE.fullmatch(model):
            statements += _through(place.arn("bedrock", f"inference-profile/{model}", why=name), model, len(statements))
        else:
            plain.append(place.arn("bedrock", f"foundation-model/{model}", why=name, owned=False))
    return [*_allowed("AskModels", _INVOKE, _sorted(plain)), *statements]


_INVOKE = ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]


def for_channel(machine: str) -> list[Statement]:
    """Asking people through a state machine (`StepFunctions`): its executions of ours, and no others.

    Raises:
        ConfigurationError: the ARN is none.
    """
    named = MachineName.of(machine)
    ours = [f"{named.executions}{PREFIX}*"]
    unqualified = ":".join(machine.split(":")[:7])
    return [
        *_allowed("AskPeople", ["states:StartExecution"], _sorted({machine, unqualified})),
        *_allowed("HearPeople", ["states:DescribeExecution", "states:StopExecution"], ours),
        *_allowed("FindQuestions", ["states:ListExecutions"], _sorted({machine, unqualified})),
    ]


def for_host(function: str, log_table: str | None = None) -> list[Statement]:
    """The role of a Lambda function that hosts a toolbox: its own log, and the table where keyed calls are written down.

    The log's group is not among it: make it with the function, so that its lines do not stay for ever.

    Args:
        function: its ARN.
        log_table: the name of a `DynamoLog`'s table.

    Raises:
        ConfigurationError: the ARN is none.
    """
    found = _FUNCTION.fullmatch(function)
    if found is None:
        raise ConfigurationError(
            f"the function that hosts the tools is named by its ARN, such as "
            f"arn:aws:lambda:ap-southeast-3:123456789012:function:alat, not {function[:100]!r}"
        )
    at = found.groupdict()
    where = f"arn:{at['partition']}:{{}}:{at['region']}:{at['account']}"
    group = f"{where.format('logs')}:log-group:/aws/lambda/{at['name']}:*"
    tables = [f"{where.format('dynamodb')}:table/{log_table}"] if log_table else []
    return [
        *_allowed("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [group]),
        *_allowed("KeepCalls", ["dynamodb:PutItem", "dynamodb:Query"], tables),
    ]


def _through(profile: str, model: str, number: int) -> list[Statement]:
    """A profile, and the models that it hands on to, in whatever region, as long as it is through it."""
    found = _PROFILE.fullmatch(model)
    partition = profile.split(":")[1]
    # the profile of an application does not say which models are behind it
    models = f"arn:{partition}:bedrock:*::foundation-model/{found['model'] if found else '*'}"
    through = {"StringEquals": {"bedrock:InferenceProfileArn": profile}}
    return [
        *_allowed(f"AskProfile{number}", _INVOKE, [profile]),
        *_allowed(f"AskBehind{number}", _INVOKE, [models], through),
    ]


def _allowed(
    sid: str, actions: Sequence[str], resources: Sequence[str], condition: Mapping[str, Any] | None = None
) -> list[Statement]:
    if not resources:
        return []
    said: Statement = {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
    return [said if condition is None else said | {"Condition": dict(condition)}]


def _function_of(tool: Tool) -> str | None:
    owner: Any = getattr(innermost(tool.function), "__self__", None)
    return owner.arn if isinstance(owner, LambdaTool) else None


def _sorted(arns: Iterable[str]) -> list[str]:
    return sorted(set(arns))
