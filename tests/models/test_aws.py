"""Who asks, and where: what is found in the environment and in files, and what is said where nothing is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from tests.models.bedrock_server import frame
from tukang.errors import ConfigurationError
from tukang.models.aws import Account, BrokenFrame, Frame, FrameDecoder, Service

NAMES = (
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
)
URL_HERE = URL("https://bedrock-runtime.us-west-2.amazonaws.com/model/m/converse")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path


def signed(account: Account) -> dict[str, str]:
    return asyncio.run(account.headers(URL_HERE, b"{}", {"Content-Type": "application/json"}))


def address(account: Account) -> str:
    return str(asyncio.run(account.url("/model/a%3A0/converse")))


def test_a_token_needs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "key")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    account = Account()
    assert signed(account) == {"Content-Type": "application/json", "Authorization": "Bearer key"}
    assert address(account) == "https://bedrock-runtime.us-west-2.amazonaws.com/model/a%3A0/converse"


def test_a_profile_brings_keys_and_region(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config").write_text("[profile kerja]\nregion = eu-west-1\n")
    (home / "credentials").write_text("[kerja]\naws_access_key_id = AKIDKERJA\naws_secret_access_key = rahasia\n")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "not for a profile that is named")
    headers = signed(Account(profile="kerja"))
    assert "Credential=AKIDKERJA/" in headers["Authorization"]
    assert "/eu-west-1/bedrock/" in headers["Authorization"]
    assert "X-Amz-Security-Token" not in headers
    with pytest.raises(ConfigurationError, match="tidak-ada"):
        signed(Account(profile="tidak-ada", region="us-west-2"))


def test_credentials_that_run_out_are_renewed_off_the_loop(home: Path) -> None:
    script = home / "issue.sh"
    script.write_text(
        "#!/bin/sh\n"
        f'echo x >> {home}/asked; n=$(wc -l < {home}/asked | tr -d " ")\n'
        'when=2000-01-01T00:00:00Z; [ "$n" -gt 1 ] && when=2999-01-01T00:00:00Z\n'
        'echo "{\\"Version\\":1,\\"AccessKeyId\\":\\"AKID$n\\",\\"SecretAccessKey\\":\\"s\\",\\"SessionToken\\":\\"t\\",'
        '\\"Expiration\\":\\"$when\\"}"\n'
    )
    script.chmod(0o755)
    (home / "config").write_text(f"[default]\nregion = us-west-2\ncredential_process = {script}\n")
    account = Account()
    first, second = signed(account), signed(account)
    assert "Credential=AKID2/" in first["Authorization"], "the first ones had run out when they came"
    assert "Credential=AKID2/" in second["Authorization"], "and the second ones are kept"
    assert first["X-Amz-Security-Token"] == "t"


def test_nothing_found_is_said_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="set AWS_REGION"):
        signed(Account())
    with pytest.raises(ConfigurationError, match="AWS_ACCESS_KEY_ID"):
        signed(Account(region="us-west-2"))
    with pytest.raises(ConfigurationError, match="copy it again") as caught:
        signed(Account(region="us-west-2", token="kunci\n"))
    assert "kunci" not in str(caught.value)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # noqa: ARG005
    with pytest.raises(ConfigurationError, match=r"tukang\[bedrock\]"):
        Account()


@pytest.mark.parametrize(
    ("fields", "base"),
    [
        ({"region": "cn-north-1"}, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
        ({"region": "us-gov-west-1"}, "https://bedrock-runtime.us-gov-west-1.amazonaws.com"),
        ({"region": "us-west-2", "base_url": "http://127.0.0.1:9/v1/"}, "http://127.0.0.1:9/v1"),
    ],
)
def test_where_bedrock_is(fields: dict[str, Any], base: str) -> None:
    assert address(Account(token="key", **fields)) == f"{base}/model/a%3A0/converse"


def test_an_address_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "https://vpce.example")
    assert address(Account(token="key", region="us-west-2")).startswith("https://vpce.example/model/")
    with pytest.raises(ConfigurationError, match="AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
        address(Account(token="key", region="us-west-2", base_url="vpce.example"))


def test_another_service_is_signed_for_and_takes_no_token_of_bedrock(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ACCESS_KEY_ID", "AKID"), ("SECRET_ACCESS_KEY", "s"), ("BEARER_TOKEN_BEDROCK", "key")):
        monkeypatch.setenv(f"AWS_{name}", value)
    account = Account(Service("AWS Step Functions", "states", "states", "SFN"), region="us-west-2")
    assert "/us-west-2/states/" in signed(account)["Authorization"]
    assert address(account).startswith("https://states.us-west-2.amazonaws.com/")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", "https://vpce.example")
    assert address(Account(Service("x", "states", "states", "SFN"), region="us-west-2")).startswith(
        "https://vpce.example/"
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # noqa: ARG005
    with pytest.raises(ConfigurationError, match=r"AWS Step Functions needs botocore: pip install 'tukang\[aws\]'"):
        Account(Service("AWS Step Functions", "states", "states", "SFN"))


def test_frames_are_read_however_they_are_cut() -> None:
    data = frame("a", b"1") + frame("b", b"", "exception") + frame("c", {"x": 1})
    expected = [Frame("a", b"1"), Frame("b", b"", failed=True), Frame("c", b'{"x": 1}')]
    assert FrameDecoder().feed(data) == expected
    decoder = FrameDecoder()
    assert [one for place in range(len(data)) for one in decoder.feed(data[place : place + 1])] == expected
    with pytest.raises(BrokenFrame):
        FrameDecoder().feed(data[:20] + b"\x00" + data[21:])
