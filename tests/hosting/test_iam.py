"""The least an identity must be allowed: exactly what is declared, in the words of IAM, which moto reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hosting.fake_lambda import ARN
from tests.hosting.test_lambda_tool import SCHEMA
from tests.moto_server import Amazon
from tukang import Agent, ConfigurationError, tool
from tukang.hosting import iam
from tukang.hosting.lambda_tool import LambdaTool
from tukang.models.scripted import Scripted
from tukang.tools import hosted

MACHINE = "arn:aws:states:ap-southeast-3:123456789012:stateMachine:izin"
HERE = iam.Place("ap-southeast-3", "123456789012")
INVOKE = ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]


def said(statements: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    return [(one["Action"], one["Resource"]) for one in statements]


def test_exactly_the_functions_that_tools_name() -> None:
    @tool(effect="read")
    def hitung(x: int) -> int:
        """Hitung."""
        return x

    other = ARN.replace("stok:live", "pesan")
    gateway = "arn:aws:bedrock-agentcore:us-west-2:123456789012:gateway/alat-abc"
    tools = [
        LambdaTool(ARN, SCHEMA, effect="read"),
        tool(LambdaTool(other, {**SCHEMA, "name": "pesan"}), effect="write", name="pesan_barang"),
        LambdaTool(other, {**SCHEMA, "name": "lagi"}),
        hitung,
        hosted.aws("gudang", ARN.replace("stok:live", "gudang")),
        hosted.aws("luar", gateway),
    ]
    box = Agent(Scripted([]), tools=tools).toolbox
    assert said(iam.for_tools(box, box.hosted)) == [
        (["lambda:InvokeFunction"], sorted([ARN, other, ARN.replace("stok:live", "gudang")])),
        (["bedrock-agentcore:InvokeGateway"], [gateway]),
    ]
    assert iam.for_tools(Agent(Scripted([]), tools=[hitung]).toolbox) == []


def test_models_of_bedrock_and_no_others() -> None:
    names = [
        "openai:gpt-4o-mini",
        "bedrock:amazon.nova-lite-v1:0",
        "bedrock-invoke:anthropic.claude-3-haiku-20240307-v1:0",
        "local",
    ]
    assert said(iam.for_models([*names, names[1]], iam.Place("ap-southeast-3"))) == [
        (
            INVOKE,
            [
                "arn:aws:bedrock:ap-southeast-3::foundation-model/amazon.nova-lite-v1:0",
                "arn:aws:bedrock:ap-southeast-3::foundation-model/anthropic.claude-3-haiku-20240307-v1:0",
            ],
        )
    ]
    assert said(iam.for_models(["bedrock:zai.glm-4.7"], HERE)) == [
        (INVOKE, ["arn:aws:bedrock:ap-southeast-3::foundation-model/zai.glm-4.7"])
    ]
    assert iam.for_models(["openai:gpt-4o-mini", "local"], iam.Place()) == []


@pytest.mark.parametrize(
    ("name", "profile", "behind"),
    [
        (
            "apac.amazon.nova-lite-v1:0",
            "arn:aws:bedrock:ap-southeast-3:123456789012:inference-profile/apac.amazon.nova-lite-v1:0",
            "amazon.nova-lite-v1:0",
        ),
        (
            "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        (
            "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123",
            "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123",
            "*",
        ),
    ],
)
def test_behind_a_profile_its_model_may_be_asked_through_it_only(name: str, profile: str, behind: str) -> None:
    first, second = iam.for_models([f"bedrock:{name}"], HERE)
    assert (first["Action"], first["Resource"], "Condition" in first) == (INVOKE, [profile], False)
    assert second["Resource"] == [f"arn:aws:bedrock:*::foundation-model/{behind}"]
    assert second["Condition"] == {"StringEquals": {"bedrock:InferenceProfileArn": profile}}


def test_the_responses_endpoint_of_bedrock() -> None:
    assert said(iam.for_models(["bedrock-responses:openai.gpt-oss-120b"], HERE)) == [
        (["bedrock-mantle:CreateInference"], ["arn:aws:bedrock-mantle:ap-southeast-3:123456789012:project/*"]),
        (["bedrock-mantle:CallWithBearerToken"], ["*"]),
    ]


def test_partitions_and_what_is_not_known() -> None:
    (china,) = iam.for_models(["bedrock:amazon.nova-lite-v1:0"], iam.Place("cn-north-1"))
    assert china["Resource"] == ["arn:aws-cn:bedrock:cn-north-1::foundation-model/amazon.nova-lite-v1:0"]
    with pytest.raises(ConfigurationError, match="needs --region: say it"):
        iam.for_models(["bedrock:amazon.nova-lite-v1:0"], iam.Place())
    with pytest.raises(ConfigurationError, match="needs --account: say it"):
        iam.for_models(["bedrock:us.amazon.nova-lite-v1:0"], iam.Place("us-east-1"))
    for function in ("alat", ARN.replace("function", "layer")):
        with pytest.raises(ConfigurationError, match="ARN"):
            iam.for_host(function)


def test_a_channel_and_a_host() -> None:
    executions = "arn:aws:states:ap-southeast-3:123456789012:execution:izin:tukang-*"
    assert said(iam.for_channel(MACHINE)) == [
        (["states:StartExecution"], [MACHINE]),
        (["states:DescribeExecution", "states:StopExecution"], [executions]),
        (["states:ListExecutions"], [MACHINE]),
    ]
    assert said(iam.for_channel(MACHINE + ":PROD"))[0] == (["states:StartExecution"], [MACHINE, MACHINE + ":PROD"])
    assert said(iam.for_host(ARN, "tukang-calls")) == [
        (
            ["logs:CreateLogStream", "logs:PutLogEvents"],
            ["arn:aws:logs:ap-southeast-3:123456789012:log-group:/aws/lambda/stok:*"],
        ),
        (["dynamodb:PutItem", "dynamodb:Query"], ["arn:aws:dynamodb:ap-southeast-3:123456789012:table/tukang-calls"]),
    ]
    assert len(iam.for_host(ARN)) == 1


def test_iam_reads_it(amazon: Amazon) -> None:
    models = [
        "bedrock:apac.amazon.nova-lite-v1:0",
        "bedrock:amazon.nova-lite-v1:0",
        "bedrock-responses:openai.gpt-oss-120b",
    ]
    box = Agent(Scripted([]), tools=[LambdaTool(ARN, SCHEMA)]).toolbox
    whole = [*iam.for_tools(box), *iam.for_models(models, HERE), *iam.for_channel(MACHINE), *iam.for_host(ARN, "t")]
    assert len({one["Sid"] for one in whole}) == len(whole)
    assert {one["Effect"] for one in whole} == {"Allow"}
    assert not any("*" in action for one in whole for action in one["Action"])
    client = amazon.client("iam")
    client.create_policy(PolicyName="tukang", PolicyDocument=json.dumps(iam.policy(whole)))
    client.close()
