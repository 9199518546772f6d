"""`tukang tools iam`: the policy on stdout, and nothing else there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.hosting.fake_lambda import ARN

MODULE = f"""
from tukang import Agent
from tukang.hosting.lambda_tool import LambdaTool

stok = LambdaTool({ARN!r}, {{"name": "cek_stok", "parameters": {{"type": "object", "properties": {{}}}}}})
agent = Agent("bedrock:apac.amazon.nova-lite-v1:0", tools=[stok])
"""
MACHINE = "arn:aws:states:ap-southeast-3:123456789012:stateMachine:izin"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "gudang_iam.py").write_text(MODULE, "utf-8")
    monkeypatch.setenv("AWS_REGION", "ap-southeast-3")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "kunci")
    return "gudang_iam:agent"


def resources(out: str) -> list[str]:
    return [resource for one in json.loads(out)["Statement"] for resource in one["Resource"]]


def test_whoever_runs_an_agent(cli: Cli, module: str) -> None:
    ran = cli("tools", "iam", module, "--account", "123456789012", "--asks", MACHINE)
    assert (ran.code, ran.err) == (0, "")
    found = resources(ran.out)
    assert ARN in found
    assert "arn:aws:bedrock:ap-southeast-3:123456789012:inference-profile/apac.amazon.nova-lite-v1:0" in found
    assert MACHINE in found
    ran = cli("tools", "iam", module)
    assert (ran.code, ran.out) == (2, "")
    assert "--account" in ran.err


def test_the_role_of_a_function_that_hosts_the_tools(cli: Cli, module: str) -> None:
    ran = cli("tools", "iam", module, "--hosted", ARN.replace("stok:live", "alat"), "--log-table", "t")
    assert resources(ran.out) == [
        ARN,
        "arn:aws:logs:ap-southeast-3:123456789012:log-group:/aws/lambda/alat:*",
        "arn:aws:dynamodb:ap-southeast-3:123456789012:table/t",
    ]


def test_an_assistant_that_needs_nothing_and_one_that_is_to_ask_bedrock(cli: Cli) -> None:
    ran = cli("tools", "iam", "toko", "--lang", "id")
    assert (ran.code, resources(ran.out), ran.err) == (0, [], "Tidak ada izin AWS yang dibutuhkan.\n")
    ran = cli("tools", "iam", "toko", "--model", "bedrock:amazon.nova-lite-v1:0", "--region", "us-east-1")
    assert resources(ran.out) == ["arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"]


@pytest.mark.parametrize(
    "words", [("iam",), ("iam", "toko", "x"), ("iam", "toko", "--as", "budi"), ("toko", "--region", "x")]
)
def test_what_is_not_meant_so_is_said(cli: Cli, words: tuple[str, ...]) -> None:
    ran = cli("tools", *words)
    assert (ran.code, ran.out) == (2, "")
    assert "tukang tools iam ASSISTANT" in ran.err
