"""Amazon, played by moto on a free port of this machine: for what signs and sends requests of its own.

moto's Step Functions really interprets a state machine, and really waits for a task token. It checks no signature; what signs
is held against botocore where it stands.
"""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

REGION = "ap-southeast-3"
ROLE = "arn:aws:iam::123456789012:role/izin"


class Amazon(msgspec.Struct, frozen=True):
    """Where it is, and a client of boto3's for what a test does as somebody else."""

    url: str

    def client(self, service: str) -> Any:
        import boto3

        return boto3.client(service, endpoint_url=self.url, region_name=REGION)

    def post(self, path: str, body: Any = None) -> None:
        """To moto itself."""
        request = urllib.request.Request(self.url + path, json.dumps(body or {}).encode(), method="POST")
        request.add_header("Content-Type", "application/json")
        urllib.request.urlopen(request).close()


@pytest.fixture(scope="session")
def amazon_server() -> Iterator[str]:
    """Its address."""
    server_module = pytest.importorskip("moto.server", reason="moto is in the development group")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOTO_PORT", str(port))  # where its own state machines reach its own queues
        yield f"http://127.0.0.1:{port}"
        server.stop()


@pytest.fixture
def amazon(amazon_server: str, monkeypatch: pytest.MonkeyPatch) -> Amazon:
    """Amazon with nothing in it, and credentials for it."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "AKIAUJICOBAUJICOBA12"),
        ("AWS_SECRET_ACCESS_KEY", "rahasia-uji-coba"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_CONFIG_FILE", "/nonexistent"),
        ("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent"),
    ):
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    server = Amazon(amazon_server)
    server.post("/moto-api/reset")
    server.post("/moto-api/config", {"stepfunctions": {"execute_state_machine": True}, "lambda": {"use_docker": False}})
    return server
