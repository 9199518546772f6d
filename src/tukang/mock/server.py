"""The server: takes a request, checks it as its provider would, and says what the script says. Decides nothing else.

How a scripted reply (`tukang.models.scripted.Says`) is sent:

* `delay` seconds pass before each delta of a stream, and once before a reply in one piece.
* `fails` when nothing was said, or when the reply is in one piece: an error with a status, in the provider's form, with
  `Retry-After`. In a stream, after what was said: the provider's error inside the stream. Two kinds have no status:
  `connection` breaks the connection, in the middle of a stream if something was said; `bad_response` is a body that is not
  JSON, or a stream that ends too early.
* `silent`: after what was said nothing comes any more, until the client goes away.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from aiohttp import web

from tukang.mock.protocols import PROTOCOLS, Found, find
from tukang.mock.script import Script
from tukang.mock.values import JSON, Asked, Fault, Frame, Refused, Speech, spoken
from tukang.models.scripted import Fails, Says

LARGEST = 64 * 2**20
"""Bytes a request may have."""


class Received(msgspec.Struct, frozen=True):
    """A request that came.

    Args:
        client: the name in its path; empty for none.
        protocol: whose protocol it speaks.
        model: the model asked for, in the address or in the body; empty when it is in neither.
        body: as it was sent; empty when it was no JSON object.
        headers: with lower-case names. They may hold keys: never show them.
        refused: why the request was refused, if it was.
    """

    client: str
    protocol: str
    model: str
    body: JSON
    headers: Mapping[str, str]
    refused: str | None = None


class MockServer:
    """A server that speaks every protocol from a script. Use it with `async with`, or in a thread (`in_thread`).

    Args:
        script: see `tukang.mock.script.Script`; replies, a function, or nothing for the echo.
        host, port: where to listen; port 0 is any that is free.
        repeat: whether the last reply is said again and again when the script is at its end.
        tell: called with each request, after it was checked.
    """

    def __init__(
        self,
        script: Sequence[Says] | Callable[[Asked], Says] | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        repeat: bool = False,
        tell: Callable[[Received], None] | None = None,
    ) -> None:
        self._script = Script(script, repeat=repeat)
        self._host = host
        self._port = port
        self._tell = tell
        self._runner: web.AppRunner | None = None
        self._count = 0

    @property
    def url(self) -> str:
        """Where it listens, without a path: `http://127.0.0.1:8123`. A client's base URL begins with it."""
        if self._runner is None:
            raise RuntimeError("the mock server is not running: use `async with server`, or `with in_thread(server)`")
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._runner.addresses[0][1]}"

    async def __aenter__(self) -> MockServer:
        application = web.Application(client_max_size=LARGEST)
        application.router.add_post("/{path:.*}", self._answer)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except BaseException:
            await runner.cleanup()
            raise
        self._runner = runner
        return self

    async def __aexit__(self, *_: object) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        found = find(request.rel_url.raw_path, request.rel_url.query, headers)
        if found is None:
            known = ", ".join(protocol.name for protocol in PROTOCOLS)
            message = f"no protocol has the path {request.path!r}; there are: {known}"
            return web.json_response({"error": {"message": message}}, status=404)
        body: JSON = {}
        try:
            body = _object(await request.read())
            asked = found.protocol.read(body, found.address)
        except Refused as refused:
            self._report(found, body, headers, str(refused))
            return _refusal(found, refused.fault)
        self._report(found, body, headers, None)
        says = _honest(found, self._script.next(found.client, asked), asked)
        self._count += 1
        speech = found.protocol.speech(spoken(says, asked, self._count, found.protocol.call_prefix))
        said = says.text or says.thinking or says.calls or says.served
        streams = asked.stream and bool(said or not says.fails)
        send = self._stream if streams else self._whole
        try:
            return await send(request, found, says, speech)
        except ConnectionResetError:  # the client has gone: nobody is left to be told
            raise asyncio.CancelledError from None

    async def _whole(self, request: web.Request, found: Found, says: Says, speech: Speech) -> web.StreamResponse:
        await asyncio.sleep(says.delay)
        if says.silent:
            await asyncio.Event().wait()
        if says.fails is None:
            try:
                return web.json_response(body=msgspec.json.encode(speech.whole()), headers=_ids(self._count))
            except Refused as refused:
                return _refusal(found, refused.fault)
        match says.fails.kind:
            case "connection":
                return _cut(request, web.StreamResponse())
            case "bad_response":
                return web.Response(text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
            case _:
                return _refusal(found, _fault(found, says.fails), says.fails.retry_after)

    async def _stream(self, request: web.Request, found: Found, says: Says, speech: Speech) -> web.StreamResponse:
        kind = found.protocol.stream_type
        if found.protocol.name == "gemini" and found.address.query.get("alt") != "sse":
            kind = "application/json"  # the stream is one array
        response = web.StreamResponse(headers={"Content-Type": kind, "Cache-Control": "no-cache", **_ids(self._count)})
        await response.prepare(request)
        try:
            await _send(response, speech.deltas(), says.delay)
        except Refused as refused:
            await _send(response, speech.broken(refused.fault))
            return response
        if says.silent:
            await asyncio.Event().wait()
        if says.fails is None:
            await _send(response, speech.ending())
        elif says.fails.kind == "connection":
            return _cut(request, response)
        elif says.fails.kind != "bad_response":
            await _send(response, speech.broken(_fault(found, says.fails)))
        return response

    def _report(self, found: Found, body: JSON, headers: Mapping[str, str], refused: str | None) -> None:
        if self._tell is not None:
            model = found.address.model or str(body.get("model") or "")
            self._tell(Received(found.client, found.protocol.name, model, body, headers, refused))


async def _send(response: web.StreamResponse, frames: Iterable[Frame], delay: float = 0) -> None:
    for frame in frames:
        if frame.delta and delay:
            await asyncio.sleep(delay)
        await response.write(frame.data)


def _honest(found: Found, says: Says, asked: Asked) -> Says:
    """The reply; a refusal where the script has the provider run what its protocol has not, what was not declared, or what
    it had to ask about first."""
    permitted = sum(yes for _, yes in asked.decided)
    for one in says.served:
        name = one.label or one.tool
        if name in asked.asking and not one.asks:
            permitted -= 1
        if not found.protocol.hosts:
            why = f"the script has {one.tool} run by the provider, and this protocol has no such tools here"
        elif name not in asked.hosting.declared and not one.tool.endswith(_ALWAYS):
            why = f"the script has {one.tool} run by the provider, and the request does not declare {name!r}"
        elif permitted < 0:
            why = f"the script has {one.tool} run by the provider, which was not permitted"
        else:
            continue
        return Says(fails=Fails("bad_request", why))
    return says


_ALWAYS = (".notes", ".tasks")
"""What gpt-oss on Bedrock has without being told."""


def _object(body: bytes) -> JSON:
    try:
        return msgspec.json.decode(body, type=JSON)
    except msgspec.DecodeError as error:
        raise Refused("We could not parse the JSON body of your request.") from error


def _fault(found: Found, fails: Fails) -> Fault:
    code = "content_filter" if fails.kind == "filtered" else None
    return Fault(fails.status or found.protocol.status(fails.kind), fails.message, code=code)


def _refusal(found: Found, fault: Fault, retry_after: float | None = None) -> web.Response:
    headers = _ids(0)
    if found.protocol.error_name is not None:
        headers["x-amzn-ErrorType"] = found.protocol.error_name(fault)
    if retry_after is not None:
        headers["Retry-After"] = str(math.ceil(retry_after))
        if retry_after != int(retry_after):
            headers["retry-after-ms"] = str(round(retry_after * 1000))
    body = msgspec.json.encode(found.protocol.error(fault))
    return web.Response(body=body, status=fault.status, content_type="application/json", headers=headers)


def _ids(number: int) -> dict[str, str]:
    """The request's id, in every provider's spelling."""
    name = f"req_{number:06x}"
    return {"request-id": name, "x-request-id": name, "x-amzn-RequestId": name}


def _cut(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Break the connection: what the client has is all it gets."""
    if request.transport is not None:
        request.transport.abort()
    return response
