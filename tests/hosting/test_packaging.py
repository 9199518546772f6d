"""The example as a zip: unpacked where nothing else is installed, and invoked; then under Amazon's own runtime client."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest

from tests.hosting.aws import call, http2, rpc
from tukang.errors import ConfigurationError
from tukang.hosting.packaging import build, main

EXAMPLE = Path(__file__).parents[2] / "examples/lambda/gudang.py"
KIRIM = {"jwt": {"claims": {"sub": "budi", "scope": "gudang:kirim"}, "scopes": None}}

INVOKE = """
import json, sys, types
sys.path.insert(0, sys.argv[1])
import gudang
context = types.SimpleNamespace(client_context=None, get_remaining_time_in_millis=lambda: 3000)
answers = [gudang.handler(json.loads(event), context) for event in sys.argv[2:]]
import tukang
print(json.dumps({"answers": answers, "from": tukang.__file__,
    "heavy": sorted({"mcp", "aiohttp", "starlette", "botocore", "typer", "rich"} & set(sys.modules))}))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("function")
    build([EXAMPLE], folder / "gudang.zip")
    with zipfile.ZipFile(folder / "gudang.zip") as archive:
        archive.extractall(folder / "task")
    return folder / "task"


def test_it_runs_where_nothing_else_is_installed(unpacked: Path) -> None:
    events = [json.dumps(call("cek_stok", {"kode": "BRG001"})), json.dumps(rpc("tools/list"))]
    # without site-packages and without this checkout
    ran = subprocess.run(
        [sys.executable, "-S", "-I", "-c", INVOKE, str(unpacked), *events],
        capture_output=True,
        check=True,
        cwd=unpacked,
    )
    said = json.loads(ran.stdout)
    assert said["answers"][0]["result"]["structuredContent"] == {"kode": "BRG001", "stok": 7}
    assert [tool["name"] for tool in said["answers"][1]["result"]["tools"]] == ["cek_stok"]
    assert said["from"].startswith(str(unpacked))
    assert said["heavy"] == [], "a cold start loads nothing that it does not need"


def test_a_zip_is_small_and_says_nothing_of_when_it_was_made(unpacked: Path) -> None:
    made = unpacked.parent / "gudang.zip"
    assert made.stat().st_size < 50_000_000, "what Lambda takes without S3"
    with zipfile.ZipFile(made) as archive:
        entries = archive.infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert not (unpacked / "tukang/cli").exists()


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not there"):
        build([tmp_path / "absent.py"], tmp_path / "f.zip")
    with pytest.raises(ConfigurationError, match="not-a-distribution"):
        build([EXAMPLE], tmp_path / "f.zip", ["not-a-distribution"])
    assert main([str(tmp_path / "absent.py"), "--out", str(tmp_path / "f.zip")]) == 2
    assert not (tmp_path / "f.zip").exists(), "no zip is left that is none"
    assert main([str(EXAMPLE), "--out", str(tmp_path / "absent/f.zip")]) == 2


class Runtime:
    """Lambda's runtime API (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html), as far as a runtime needs it."""

    def __init__(self) -> None:
        self.waiting: Queue[tuple[str, Any, Any]] = Queue()
        self.answers: Queue[tuple[str, Any]] = Queue()
        runtime = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                try:
                    id, event, custom = runtime.waiting.get(timeout=60)
                except Empty:
                    return
                body = json.dumps(event).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Lambda-Runtime-Aws-Request-Id", id)
                self.send_header(
                    "Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=1;Sampled=0"
                )
                self.send_header("Lambda-Runtime-Deadline-Ms", str(4_102_444_800_000))
                self.send_header(
                    "Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:ap-southeast-1:1:function:gudang"
                )
                if custom:
                    self.send_header(
                        "Lambda-Runtime-Client-Context", json.dumps({"custom": custom, "env": {}, "client": {}})
                    )
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                runtime.answers.put((self.path.rpartition("/")[2], json.loads(body or b"null")))
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    def invoke(self, event: Any, custom: Any = None) -> Any:
        self.waiting.put(("request-1", event, custom))
        what, answer = self.answers.get(timeout=60)
        assert what == "response", answer
        return answer


@pytest.fixture
def runtime(unpacked: Path) -> Iterator[Runtime]:
    if find_spec("awslambdaric") is None:
        pytest.skip(
            "awslambdaric, Amazon's runtime client, is not installed here: it is in the development group, for Linux"
        )
    served = Runtime()
    here = str(Path(str(find_spec("awslambdaric").origin)).parents[1])  # type: ignore[union-attr]
    process = subprocess.Popen(
        # what stands in the zip comes first, as it does in Lambda
        [sys.executable, "-S", "-m", "awslambdaric", "gudang.handler"],
        cwd=unpacked,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{unpacked}:{here}",
            "AWS_LAMBDA_RUNTIME_API": served.address,
            "AWS_LAMBDA_FUNCTION_NAME": "gudang",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "AWS_LAMBDA_LOG_GROUP_NAME": "g",
            "AWS_LAMBDA_LOG_STREAM_NAME": "s",
            "AWS_REGION": "ap-southeast-1",
            "LAMBDA_TASK_ROOT": str(unpacked),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield served
    process.kill()
    process.wait()
    served.server.shutdown()
    served.server.server_close()


def test_under_amazon_s_own_runtime_client(runtime: Runtime) -> None:
    """Every kind of invocation, one after the other in one instance; an order with a key is one order."""
    assert runtime.invoke(rpc("tools/list"))["result"]["tools"][0]["name"] == "cek_stok"
    gateway = {"bedrockAgentCoreToolName": "gudang___cek_stok", "bedrockAgentCoreSessionId": "s-1"}
    assert runtime.invoke({"kode": "BRG001"}, gateway) == {"kode": "BRG001", "stok": 7}
    order = call("kirim", {"kode": "BRG001", "jumlah": 2}, **{"tukang/idempotency_key": "k1"})
    answers = [json.loads(runtime.invoke(http2(order, KIRIM))["body"])["result"] for _ in range(2)]
    assert answers[0]["structuredContent"]["sisa"] == 5
    assert answers[0] == answers[1]
    assert runtime.invoke({"kode": "BRG001"}, gateway)["stok"] == 5
    encoded = {**http2(base64.b64encode(json.dumps(rpc("ping")).encode()).decode()), "isBase64Encoded": True}
    assert runtime.invoke(encoded)["statusCode"] == 200
