"""A server that speaks the protocol by hand, over standard input and output, and misbehaves as it is told.

It shares nothing with the SDK: it is the other side of the wire. All it hears is written to the file `HEARD`, a line of JSON
each. `FAULT` says what is wrong with it from the start; what is wrong with a tool is in the tool's name.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

FAULT = os.environ.get("FAULT", "")
HEARD = Path(os.environ["HEARD"])
NAME = os.environ.get("NAME", "plain")
_OUT = threading.Lock()
_MORE: list[dict[str, Any]] = []
_ANSWERED: dict[Any, dict[str, Any]] = {}
_NEWS = threading.Condition()


def say(message: dict[str, Any]) -> None:
    with _OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tool(name: str, about: str = "", *, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties or {}}
    return {"name": name, "description": about, "inputSchema": schema, **more}


READS = {"annotations": {"readOnlyHint": True}}
TOOLS = [
    tool("say", "Says it again", properties={"text": {"type": "string"}}, **READS),
    tool("who", **READS),
    tool("write", properties={"text": {"type": "string"}}),
    tool("destroy", annotations={"destructiveHint": True}),
    tool("put", annotations={"destructiveHint": False, "idempotentHint": True}),
    tool("wait"),
    tool("wait_reading", **READS),
    tool("die"),
    tool("die_reading", **READS),
    tool("die_once_reading", **READS),
    tool("fail"),
    tool("refuse"),
    tool("malformed"),
    tool("big", **READS),
    tool("progress", **READS),
    tool("grow"),
    tool("ask"),
    tool("sample"),
    tool("parts"),
    tool("twice"),
    tool("lie", outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
    tool("environment", **READS),
    tool("bad schema!", properties={"x": {"$ref": "https://example.com/elsewhere.json"}}),
]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def text(*words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": one} for one in words], **more}


def asked(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client for something, and wait for its answer."""
    id = f"mine-{time.monotonic_ns()}"
    say({"id": id, "method": method, "params": params})
    with _NEWS:
        _NEWS.wait_for(lambda: id in _ANSWERED, timeout=10)
    return _ANSWERED[id]


def call(id: Any, name: str, arguments: dict[str, Any], token: Any) -> dict[str, Any] | None:
    match name:
        case "say":
            return text(arguments.get("text", ""))
        case "who":
            return text(NAME)
        case "write" | "destroy" | "put":
            return text("done")
        case "wait" | "wait_reading":
            return None
        case "die" | "die_reading":
            os._exit(3)
        case "die_once_reading":
            if HEARD.read_text().count('"die_once_reading"') < 2:
                os._exit(3)
            return text("the second time")
        case "fail":
            return text("there is no such order", isError=True)
        case "refuse":
            say({"id": id, "error": {"code": -32603, "message": f"no: {os.environ.get('TOKEN')}"}})
            return None
        case "malformed":
            say({"id": id, "result": {"content": "not a list"}})
            return None
        case "big":
            return text("x" * 100_000)
        case "progress":
            for step in (1, 2):
                news = {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}
                say({"method": "notifications/progress", "params": news})
            return text("there")
        case "grow":
            _MORE.append(tool("grown"))
            say({"method": "notifications/tools/list_changed"})
            return text("grown")
        case "grown":
            return text("I am new")
        case "ask":
            schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
            return text(json.dumps(asked("elicitation/create", {"message": "Which?", "requestedSchema": schema})))
        case "sample":
            said = {"role": "user", "content": {"type": "text", "text": "Hello?"}}
            params = {"messages": [said], "maxTokens": 10, "systemPrompt": "Be brief."}
            return text(json.dumps(asked("sampling/createMessage", params)))
        case "parts":
            return {
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image", "mimeType": "image/png", "data": PIXEL},
                    {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
                    {"type": "resource", "resource": {"uri": "note://1", "text": "a note"}},
                    {
                        "type": "resource",
                        "resource": {"uri": "f://x/a.pdf", "mimeType": "application/pdf", "blob": "JVBERg=="},
                    },
                    {"type": "resource_link", "name": "log", "uri": "file:///log", "mimeType": "text/plain"},
                    {"type": "image", "mimeType": "image/png", "data": "A" * 8_000_000},
                ]
            }
        case "twice":
            return text('{"b": 2, "a": 1}', structuredContent={"a": 1, "b": 2})
        case "lie":
            return text("lied", structuredContent={"n": "many"})
        case "environment":
            return text(json.dumps({key: os.environ.get(key) for key in ("TOKEN", "OPENAI_API_KEY", "HOME")}))
        case _:
            return text(f"there is no tool {name}", isError=True)


def answer(message: dict[str, Any]) -> None:
    id, method, params = message.get("id"), message["method"], message.get("params", {})
    result: dict[str, Any] | None
    match method:
        case "initialize":
            offers = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
            info = {"name": NAME, "version": "1"}
            result = {"protocolVersion": params["protocolVersion"], "capabilities": offers, "serverInfo": info}
        case "tools/list":
            if FAULT == "endless":
                say({"id": id, "result": {"tools": TOOLS, "nextCursor": "more"}})
                return
            half = len(TOOLS) // 2
            first = params.get("cursor") is None
            result = {"tools": TOOLS[:half], "nextCursor": "half"} if first else {"tools": TOOLS[half:] + _MORE}
        case "tools/call":
            token = params.get("_meta", {}).get("progressToken")
            result = call(id, params["name"], params.get("arguments", {}), token)
        case "resources/list":
            result = {"resources": [{"uri": "note://1", "name": "note", "description": "a note"}]}
        case "resources/read" if params["uri"] == "note://1":
            result = {"contents": [{"uri": "note://1", "text": "what the note says"}]}
        case "prompts/list":
            arguments = [{"name": "city", "required": True}]
            result = {"prompts": [{"name": "plan", "description": "Plans", "arguments": arguments}]}
        case "prompts/get":
            words = f"Plan {params.get('arguments', {}).get('city')}"
            result = {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}
        case _:
            say({"id": id, "error": {"code": -32601, "message": f"no {method}"}})
            return
    if result is not None:
        say({"id": id, "result": result})
    if method == "tools/list" and FAULT == "restless":
        say({"method": "notifications/tools/list_changed"})


def main() -> None:
    print(f"{NAME} begins; the token is {os.environ.get('TOKEN')}", file=sys.stderr, flush=True)
    if FAULT == "exits":
        print("the licence has run out", file=sys.stderr, flush=True)
        sys.exit(2)
    if FAULT == "chatters":
        print("Welcome! Listening …", flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        with HEARD.open("a") as heard:
            heard.write(json.dumps(message) + "\n")
        if FAULT == "silent":
            continue
        if FAULT == "leaves when it does not know" and message.get("method") == "server/discover":
            os._exit(4)
        if "method" not in message:
            with _NEWS:
                _ANSWERED[message["id"]] = message.get("result") or {"error": message.get("error")}
                _NEWS.notify_all()
        elif "id" in message:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
    if FAULT == "stays":
        time.sleep(60)


if __name__ == "__main__":
    main()
