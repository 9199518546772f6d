"""The HTTP tool against servers that are slow, endless or packed: how much it reads, and when it stops."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import zlib

import pytest
from aiohttp import web

from tests.connectors.conftest import acall, context, fault
from tests.connectors.http_calls import body, refused, run, silent, told
from tests.connectors.site import Answer, serving
from tukang.connectors import http_tool
from tukang.connectors.fetching import _unpacker  # pyright: ignore[reportPrivateUsage]
from tukang.tools.execute import execute

# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_more_is_read_than_the_bound() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    said = told(endless, size=100_000, max_output=None)
    assert said["text"] == "x" * 100_000
    assert said["cut"] == "Only the first 100000 bytes were read."
    assert "cut" not in told(body(b"x" * 1000), size=1000)
    cut = told(body(json.dumps(["x" * 5000]).encode(), "application/json"), size=1000)
    assert len(cut["text"]) == 1000


@pytest.mark.parametrize("packed", ["gzip", "deflate", "raw deflate", "gzip of gzips"])
def test_what_unpacks_to_a_thousand_times_its_size_is_cut(packed: str) -> None:
    large = b"\0" * 200 + b"a" * 50_000_000
    if packed == "gzip of gzips":
        data = gzip.compress(b"a" * 100) * 200_000
    elif packed == "raw deflate":
        press = zlib.compressobj(wbits=-15)
        data = press.compress(large[200:]) + press.flush()
    else:
        data = gzip.compress(large[200:]) if packed == "gzip" else zlib.compress(large[200:])
    began = time.process_time()
    said = told(body(data, Content_Encoding="gzip" if "gzip" in packed else "deflate"), size=100_000, max_output=None)
    assert said["text"] == "a" * 100_000
    assert "cut" in said
    assert time.process_time() - began < 5


def test_no_more_is_unpacked_at_once_than_there_is_room_for() -> None:
    for data, encoding in ((gzip.compress(b"a" * 10**7), "gzip"), (zlib.compress(b"a" * 10**7), "deflate")):
        assert len(_unpacker(encoding)(data, 1000)) == 1000
    assert len(_unpacker("gzip")(gzip.compress(b"a" * 100) * 1000, 1000)) == 1000


def test_what_is_packed_is_unpacked_and_what_is_damaged_is_said() -> None:
    assert told(body(gzip.compress(b"halo"), Content_Encoding="gzip"))["text"] == "halo"
    assert told(body(gzip.compress(b"ha") + gzip.compress(b"lo"), Content_Encoding="gzip"))["text"] == "halo"
    assert "damaged" in refused(body(b"bukan gzip", Content_Encoding="gzip"))[0]
    assert "was not asked for" in refused(body(b"x", Content_Encoding="br"))[0]
    assert "was not asked for" in refused(body(gzip.compress(gzip.compress(b"x")), Content_Encoding="gzip, gzip"))[0]


async def drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(request)
    while True:
        await response.write(b"x")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("answer", [drip, silent])
def test_a_slow_server_has_its_time_and_no_more(answer: Answer) -> None:
    began = time.monotonic()
    assert refused(answer, seconds=0.3)[0] == "HttpError: it did not answer within 0.3 seconds"
    assert time.monotonic() - began < 5


def test_cancelling_the_call_ends_the_connection() -> None:
    async def asked() -> None:
        gone = asyncio.Event()
        came = asyncio.Event()

        async def waiting(_: web.Request) -> web.StreamResponse:
            came.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()
            return web.Response()

        async with serving(waiting) as site:
            tool = http_tool([site.here], http=True, private=True, seconds=60)
            task = asyncio.create_task(execute(tool, json.dumps({"url": f"http://{site.here}/"}), context()))
            await came.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(gone.wait(), 10)

    run(asked)


def test_what_goes_wrong_on_the_way_is_said_without_headers() -> None:
    async def asked() -> None:
        async with serving(lambda request: _broken(request)) as site:
            headers = {site.here: {"Authorization": "Bearer rahasia-sekali-123"}}
            tool = http_tool([site.here], http=True, private=True, headers=headers)
            said, hint = fault(await acall(tool, url=f"http://{site.here}/"))
            assert "rahasia-sekali" not in said + hint
            assert "failed" in said or "broke off" in said
        said, _ = fault(await acall(tool, url=f"http://{site.here}/"))
        assert said == "it takes no connections"

    run(asked)


def _broken(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()
