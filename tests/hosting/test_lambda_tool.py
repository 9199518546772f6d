"""A tool that is somebody's Lambda function: what is sent, and what becomes of every way it can go."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from tests.hosting.fake_lambda import ARN, KEY_ID, REGION, SECRET, FakeLambda, Says, played
from tests.moto_server import Amazon
from tukang import Agent, ConfigurationError, tool
from tukang.errors import ToolDefinitionError
from tukang.hosting import LambdaHandler, toolbox
from tukang.hosting.lambda_tool import KEY, MOST_BYTES, TOOL, LambdaTool
from tukang.models.scripted import Scripted, call
from tukang.tools.adopting import as_tool
from tukang.tools.context import CallContext
from tukang.tools.execute import execute
from tukang.tools.outcome import Outcome

SCHEMA = {
    "name": "cek_stok",
    "description": "Cek stok sebuah barang.",
    "parameters": {"type": "object", "properties": {"kode": {"type": "string"}}, "required": ["kode"]},
}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_LAMBDA", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    sleep = asyncio.sleep
    monkeypatch.setattr("tukang.hosting.lambda_tool.asyncio.sleep", lambda _: sleep(0))


async def ran(
    fake: FakeLambda,
    seconds: float | None = None,
    arguments: str = '{"kode":"BRG001"}',
    key: str = "kunci-1",
    schema: Any = SCHEMA,
    **said: Any,
) -> Outcome:
    """What becomes of one call."""
    made = as_tool(LambdaTool(ARN, schema, base_url=fake.url, **said))
    return await execute(made, arguments, CallContext(call_id="t-1-0", idempotency_key=key), seconds)


def fault(outcome: Outcome) -> str | None:
    return outcome.fault.kind if outcome.fault else None


def test_an_agent_calls_it_like_any_tool_and_boto3_sends_the_same() -> None:
    async def work() -> None:
        async with played(Says({"stok": 7}), Says({"stok": 7})) as fake:
            stok = LambdaTool(ARN, SCHEMA, base_url=fake.url, effect="read", timeout=5)
            agent = Agent(Scripted([call("cek_stok", kode="BRG001"), "Ada 7."]), tools=[stok])
            answer = await agent.arun("Stok?")
            assert (answer.text, answer.steps[0].result) == ("Ada 7.", '{"stok":7}')
            await asyncio.to_thread(by_boto3, fake.url, fake.got[0].custom)
            assert fake.got[0] == fake.got[1]
            assert (fake.got[0].arn, fake.got[0].event, fake.got[0].kind) == (
                ARN,
                {"kode": "BRG001"},
                "RequestResponse",
            )
            assert fake.got[0].custom == {TOOL: "cek_stok", KEY: fake.got[0].custom[KEY]}
            assert fake.got[0].custom[KEY]

    asyncio.run(work())


def by_boto3(url: str, custom: Any) -> None:
    import boto3

    client = boto3.client("lambda", endpoint_url=url, region_name=REGION)
    context = base64.b64encode(json.dumps({"custom": custom}).encode()).decode()
    answer = client.invoke(
        FunctionName=ARN,
        InvocationType="RequestResponse",
        ClientContext=context,
        Payload=json.dumps({"kode": "BRG001"}),
    )
    assert json.load(answer["Payload"]) == {"stok": 7}
    assert answer["ExecutedVersion"] == "1"
    client.close()


def test_a_function_that_moto_keeps(amazon: Amazon) -> None:
    client = amazon.client("lambda")
    role = amazon.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    made = client.create_function(
        FunctionName="stok", Runtime="python3.12", Role=role, Handler="f.h", Code={"ZipFile": b"x"}, Publish=True
    )

    async def work(arn: str) -> Outcome:
        stok = as_tool(LambdaTool(arn, SCHEMA, base_url=amazon.url))
        return await execute(stok, '{"kode":"BRG001"}', CallContext(call_id="t", idempotency_key="k"))

    arn = made["FunctionArn"].removesuffix(":1")
    assert asyncio.run(work(arn)).text == '{"kode":"BRG001"}', "moto's function returns its event"
    client.close()


def test_a_function_that_is_a_toolbox_of_ours() -> None:
    did: list[str] = []

    @tool(effect="write", approval="never")
    def cek_stok(kode: str) -> dict[str, Any]:
        """Cek stok sebuah barang."""
        did.append(kode)
        if kode == "BRG404":
            raise ValueError("tidak ada barang itu")
        return {"kode": kode, "stok": 7}

    handler = LambdaHandler(lambda: toolbox([cek_stok]))

    async def work() -> None:
        async with played(*[Says(runs=handler)] * 5) as fake:
            for _ in range(2):
                assert (await ran(fake, effect="write")).text == '{"kode":"BRG001","stok":7}'
            assert did == ["BRG001"], "it knows the call by its key"
            other = await ran(fake, effect="write", arguments='{"kode":"BRG404"}')
            assert fault(other) == "nothing_done", "the key is another call's"
            failed = await ran(fake, effect="write", arguments='{"kode":"BRG404"}', key="kunci-2")
            assert (fault(failed), did) == ("tool_failed", ["BRG001", "BRG404"])
            assert "tidak ada barang itu" in failed.text
            wrong = await ran(fake, effect="write", arguments='{"kode":7}', key="kunci-3", schema=LOOSE)
            assert fault(wrong) == "nothing_done"

    asyncio.run(work())
    handler.close()


LOOSE = {"name": "cek_stok", "parameters": {"type": "object", "properties": {"kode": {}}}}


@pytest.mark.parametrize(
    ("says", "write", "read"),
    [
        (Says({"errorType": "ValueError", "errorMessage": "stok 0"}, error="Unhandled"), "tool_failed", "tool_failed"),
        (
            Says({"errorType": "NothingDone", "errorMessage": "belum"}, error="Unhandled"),
            "nothing_done",
            "nothing_done",
        ),
        (
            Says({"errorType": "Runtime.ImportModuleError", "errorMessage": "x"}, error="Unhandled"),
            "nothing_done",
            "nothing_done",
        ),
        (
            Says({"errorType": "Sandbox.Timedout", "errorMessage": "3 s"}, error="Unhandled"),
            "outcome_unknown",
            "tool_failed",
        ),
        (
            Says({"errorMessage": "2026-11-30T10:00:00Z x Task timed out after 3.00 seconds"}, error="Unhandled"),
            "outcome_unknown",
            "tool_failed",
        ),
        (
            Says({"errorType": "Runtime.ExitError", "errorMessage": "x"}, error="Unhandled"),
            "outcome_unknown",
            "tool_failed",
        ),
        (Says(b"", error="Unhandled"), "outcome_unknown", "tool_failed"),
        (Says({"Message": "no"}, 403, fault="AccessDeniedException"), "nothing_done", "nothing_done"),
        (Says({"Message": "no"}, 404, fault="ResourceNotFoundException"), "nothing_done", "nothing_done"),
        (Says({"Message": "no"}, 502, fault="KMSAccessDeniedException"), "nothing_done", "nothing_done"),
        (Says({"Message": "no"}, 500, fault="ServiceException"), "outcome_unknown", None),
        (Says(b"", 502), "outcome_unknown", None),
        (Says(cut="before"), "outcome_unknown", None),
        (Says({"stok": 7}, cut="middle"), "outcome_unknown", None),
    ],
    ids=lambda one: one.fault or one.cut or str(one.body)[:40] if isinstance(one, Says) else str(one),
)
def test_what_is_certain_decides(says: Says, write: str | None, read: str | None) -> None:
    async def work() -> None:
        for effect, came, times in (("write", write, 1), ("unknown", write, 1), ("read", read, 1 if read else 2)):
            async with played(says) as fake:
                outcome = await ran(fake, effect=effect)
                assert (effect, fault(outcome), len(fake.got)) == (effect, came, times)

    asyncio.run(work())


def test_what_did_not_run_is_tried_again_and_what_may_be_repeated_too() -> None:
    busy = Says({"Message": "Rate Exceeded."}, 429, fault="TooManyRequestsException", headers={"Retry-After": "0"})
    pending = Says({"Message": "x"}, 409, fault="SnapStartNotReadyException")
    expired = Says({"message": "x"}, 403, fault="ExpiredTokenException")

    async def work() -> None:
        async with played(busy, pending, expired, Says("jadi")) as fake:
            outcome = await ran(fake, effect="write")
            assert (outcome.text, len(fake.got)) == ("jadi", 4)
            assert len({got.custom[KEY] for got in fake.got}) == 1
        async with played(*[busy] * 4) as fake:
            outcome = await ran(fake, effect="write")
            assert (fault(outcome), len(fake.got)) == ("nothing_done", 4)
        async with played(Says({"Message": "x"}, 500, fault="ServiceException"), Says("jadi")) as fake:
            assert (await ran(fake, effect="idempotent")).text == "jadi"
        async with played(*[Says(cut="before")] * 4) as fake:
            assert fault(await ran(fake, effect="idempotent")) == "outcome_unknown"
        async with played(*[Says(cut="before")] * 4) as fake:
            assert fault(await ran(fake, effect="read")) == "tool_failed"

    asyncio.run(work())


def test_our_time_holds_and_nothing_waits_longer_than_it_has() -> None:
    slow = Says({"Message": "x"}, 429, fault="TooManyRequestsException", headers={"Retry-After": "30"})

    async def work() -> None:
        for effect, came in (("write", "outcome_unknown"), ("read", "timed_out")):
            async with played(Says(silent=True)) as fake:
                assert fault(await ran(fake, effect=effect, timeout=0.2)) == came
                await fake.gone.wait()
        async with played(slow) as fake:
            assert fault(await ran(fake, seconds=10, effect="write")) == "nothing_done"
            assert len(fake.got) == 1

    asyncio.run(work())


def test_where_nobody_listens_nothing_is_done() -> None:
    async def work() -> None:
        async with played() as fake:
            pass
        assert fault(await ran(fake, effect="write")) == "nothing_done"

    asyncio.run(work())


def test_without_credentials_nothing_is_done(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")

    async def work() -> None:
        async with played() as fake:
            outcome = await ran(fake, effect="write")
            assert (fault(outcome), fake.got) == ("nothing_done", [])
            assert "AWS_ACCESS_KEY_ID" not in outcome.text
            assert "AWS_ACCESS_KEY_ID" in caplog.text, "how to mend it is for the developer"

    asyncio.run(work())


def test_sizes_are_bounded_both_ways() -> None:
    async def work() -> None:
        async with played(Says("x" * 2000)) as fake:
            long = json.dumps({"kode": "x" * MOST_BYTES})
            assert fault(await ran(fake, arguments=long, effect="write")) == "nothing_done"
            assert fake.got == []
            outcome = await ran(fake, effect="write", longest=1000)
            assert fault(outcome) == "tool_failed"
            assert "it ran, but its result has more than 1000 bytes" in outcome.text

    asyncio.run(work())


def test_secrets_and_names_of_roles_do_not_reach_the_model(caplog: pytest.LogCaptureFixture) -> None:
    denied = f"User: arn:aws:iam::123456789012:user/budi is not authorized on {ARN}, token=abcdefghijkl"
    failed = {
        "errorType": "Auth",
        "errorMessage": "Bearer abcdefghijklmnop refused",
        "stackTrace": ["/var/task/kunci.py"],
    }

    async def work() -> None:
        async with played(
            Says({"Message": denied}, 403, fault="AccessDeniedException"), Says(failed, error="Unhandled")
        ) as it:
            first, second = await ran(it, effect="write"), await ran(it, effect="write")
        for hidden in ("budi", "arn:", "abcdefghijkl", "kunci.py", SECRET, KEY_ID):
            assert hidden not in first.text + second.text
        assert "user/budi" in caplog.text
        assert "token=abcdefghijkl" not in caplog.text
        assert SECRET not in caplog.text

    asyncio.run(work())


def test_results_that_are_no_object_and_a_key_in_the_event() -> None:
    async def work() -> None:
        for body, text in (
            ("apa", "apa"),
            ([1], "[1]"),
            (b"no JSON", "no JSON"),
            (12345678901234567890, "12345678901234567890"),
        ):
            async with played(Says(body)) as fake:
                outcome = await ran(fake, effect="read", key_in="kunci")
                assert (outcome.text, fake.got[0].event) == (text, {"kode": "BRG001", "kunci": "kunci-1"})

    asyncio.run(work())


def test_a_policy_may_be_said_around_it_too() -> None:
    made = as_tool(tool(LambdaTool(ARN, SCHEMA), effect="write", timeout=3))
    assert (made.policy.effect, made.policy.timeout, made.policy.approving) == ("write", 3, "ask")
    assert as_tool(LambdaTool(ARN, SCHEMA, effect="read", timeout=3)).policy.timeout == 3


@pytest.mark.parametrize(
    ("inside", "around", "kind", "sent"),
    [("read", "write", "outcome_unknown", 1), ("write", "read", None, 2), ("write", "idempotent", None, 2)],
)
def test_what_is_said_around_it_decides_whether_a_call_is_repeated(
    inside: Any, around: Any, kind: str | None, sent: int
) -> None:
    async def work() -> None:
        async with played(Says(cut="before"), Says({"stok": 7})) as fake:
            made = tool(LambdaTool(ARN, SCHEMA, base_url=fake.url, effect=inside), effect=around, approval="never")
            agent = Agent(Scripted([call("cek_stok", kode="BRG001"), "selesai"]), tools=[made])
            (step,) = (await agent.arun("berapa?")).steps
            assert (step.fault.kind if step.fault else None, len(fake.got)) == (kind, sent)

    asyncio.run(work())


def test_what_cannot_work_is_refused() -> None:
    for arn in (
        "stok",
        "arn:aws:lambda:x:1:function:stok",
        "arn:aws:states:ap-southeast-3:123456789012:stateMachine:stok",
    ):
        with pytest.raises(ConfigurationError, match="ARN"):
            LambdaTool(arn, SCHEMA)
    taken = {"name": "t", "parameters": {"type": "object", "properties": {"kunci": {"type": "string"}}}}
    with pytest.raises(ToolDefinitionError, match="kunci"):
        LambdaTool(ARN, taken, key_in="kunci")
    with pytest.raises(ToolDefinitionError, match="effect"):
        LambdaTool(ARN, SCHEMA, effect="menulis")  # type: ignore[arg-type]
