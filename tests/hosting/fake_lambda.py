"""Lambda's Invoke, played on a free port of this machine: it checks the signature, keeps what came, and answers as told.

That it is a fair Lambda is shown by boto3, which invokes it as well (see `test_lambda_tool`).
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import msgspec
from aiohttp import web

REGION = "ap-southeast-3"
ARN = f"arn:aws:lambda:{REGION}:123456789012:function:stok:live"
KEY_ID, SECRET = "AKIAUJICOBAUJICOBA12", "rahasia-uji-coba"


class Says(msgspec.Struct, frozen=True):
    """An answer.

    Args:
        body: as JSON; bytes as they are.
        status: of HTTP.
        error: the function's error, `Handled` or `Unhandled`.
        fault: the exception of Lambda's own.
        headers: besides.
        cut: break the connection off instead, before the answer or in the middle of it.
        silent: do not answer at all.
        runs: a handler that is run instead, with the event and a context such as Lambda's.
    """

    body: Any = None
    status: int = 200
    error: str = ""
    fault: str = ""
    headers: dict[str, str] = {}
    cut: str = ""
    silent: bool = False
    runs: Callable[[Any, Any], Any] | None = None


class Got(msgspec.Struct, frozen=True):
    """A request."""

    arn: str
    event: Any
    kind: str | None
    custom: Any


class FakeLambda:
    """The server; `got` is what it was asked."""

    def __init__(self, answers: Sequence[Says]) -> None:
        self._answers = list(answers)
        self.got: list[Got] = []
        self.url = ""
        self.gone = asyncio.Event()

    async def take(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if wrong := signature_fault(request, body):
            return web.json_response(
                {"message": wrong}, status=403, headers={"x-amzn-ErrorType": "InvalidSignatureException"}
            )
        said = request.headers.get("X-Amz-Client-Context")
        custom = json.loads(base64.b64decode(said))["custom"] if said else None
        arn = unquote(request.raw_path.partition("/functions/")[2].rpartition("/invocations")[0])
        self.got.append(Got(arn, json.loads(body or b"{}"), request.headers.get("X-Amz-Invocation-Type"), custom))
        says = self._answers.pop(0) if self._answers else Says("baik")
        if says.runs is not None:
            context = SimpleNamespace(client_context=SimpleNamespace(custom=custom))
            says = Says(await asyncio.to_thread(says.runs, self.got[-1].event, context))
        return await self._answer(request, says)

    async def _answer(self, request: web.Request, says: Says) -> web.StreamResponse:
        if says.silent:
            try:
                await asyncio.Event().wait()
            finally:
                self.gone.set()
        body = says.body if isinstance(says.body, bytes) else json.dumps(says.body).encode()
        headers = dict(says.headers)
        headers |= {"X-Amz-Function-Error": says.error} if says.error else {"X-Amz-Executed-Version": "1"}
        headers |= {"x-amzn-ErrorType": f"{says.fault}:http://internal.amazon.com/"} if says.fault else {}
        if says.cut:
            if says.cut == "middle":
                response = web.StreamResponse(headers=headers | {"Content-Length": "1000"})
                await response.prepare(request)
                await response.write(body)
            assert request.transport is not None
            request.transport.close()
        return web.Response(body=body, status=says.status, headers=headers, content_type="application/json")


def signature_fault(request: web.Request, body: bytes) -> str:
    """What is wrong with the signature, worked out as botocore would; empty when it is right."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    said = request.headers.get("Authorization", "")
    parts = dict(part.strip().partition("=")[::2] for part in said.partition(" ")[2].split(","))
    signed = {
        name: request.headers[name] for name in parts.get("SignedHeaders", "").split(";") if name in request.headers
    }
    again = AWSRequest(request.method, f"http://{request.host}{request.raw_path}", data=body, headers=signed)
    again.context["timestamp"] = request.headers.get("X-Amz-Date", "")
    auth = SigV4Auth(Credentials(KEY_ID, SECRET), "lambda", REGION)
    expected = auth.signature(auth.string_to_sign(again, auth.canonical_request(again)), again)
    return "" if expected == parts.get("Signature") else "The request signature we calculated does not match"


@asynccontextmanager
async def played(*answers: Says) -> AsyncIterator[FakeLambda]:
    """The server, for as long as the block runs."""
    fake = FakeLambda(answers)
    application = web.Application(client_max_size=2**24)
    application.router.add_post("/{path:.*}", fake.take)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fake
    await runner.cleanup()
