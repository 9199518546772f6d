"""The vendors' own SDKs as clients: independent judges of what the mock sends, and of what it accepts.

Each judge holds a conversation in the SDK's own form, built of what the SDK itself made of the replies, and says in neutral
words what it heard. Retries are off everywhere.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar

import anthropic
import boto3
import botocore.exceptions
import google.genai.errors
import ollama
import openai
from botocore.config import Config
from google import genai
from google.genai import types

from tests.mock.judge import EarlyEnd, Failure, Heard, Judge


class OpenAIJudge(Judge):
    name = "openai"
    seals = False
    finishes: ClassVar = {"stop": "stop", "calls": "tool_calls", "length": "length", "filtered": "content_filter"}

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="any", max_retries=0)

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def ask(self, stream: bool) -> Heard:
        given: dict[str, Any] = {"model": "m", "messages": self.history}
        if self.tools:
            given["tools"] = [{"type": "function", "function": tool} for tool in self.tools]
        heard = Heard()
        if not stream:
            reply = self.client.chat.completions.create(**given)
            heard.deltas = [reply.choices[0].message.content or ""]
            return self._kept(reply, heard)
        try:
            with self.client.chat.completions.stream(**given, stream_options={"include_usage": True}) as events:
                heard.deltas = [e.delta for e in events if e.type == "content.delta" and e.delta]
                return self._kept(events.get_final_completion(), heard)
        except openai.LengthFinishReasonError:
            return Heard(finish="length")
        except openai.ContentFilterFinishReasonError:
            return Heard(finish="content_filter")

    def _kept(self, reply: Any, heard: Heard) -> Heard:
        message = reply.choices[0].message
        heard.thinking = (message.model_extra or {}).get("reasoning_content", "")
        heard.calls = [(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or ()]
        heard.finish = reply.choices[0].finish_reason
        if reply.usage:
            heard.usage = (reply.usage.prompt_tokens, reply.usage.completion_tokens)
        self.history.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        for call in self.history[-1].get("tool_calls", ()):  # what the SDK parsed beside is not for the server
            call.pop("index", None)
            call["function"].pop("parsed_arguments", None)
        return heard

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        for (name, _, _), text in zip(calls, texts, strict=True):
            self.history.append({"role": "tool", "tool_call_id": name, "content": text})

    def failure(self, error: Exception) -> Failure | None:
        if isinstance(error, openai.APIStatusError):
            return Failure(error.status_code, error.message, error.response.headers.get("retry-after"))
        return Failure(None, error.message) if type(error) is openai.APIError else None


class ResponsesJudge(OpenAIJudge):
    name = "responses"
    seals = True
    finishes: ClassVar = {"stop": "completed", "calls": "completed", "length": "incomplete", "filtered": "incomplete"}

    def ask(self, stream: bool) -> Heard:
        given: dict[str, Any] = {"model": "m", "input": self.history, "store": False}
        given["include"] = ["reasoning.encrypted_content"]
        if self.tools:
            given["tools"] = [{"type": "function", "strict": False, **tool} for tool in self.tools]
        heard = Heard()
        if stream:
            reply = None
            with self.client.responses.create(**given, stream=True) as events:
                for event in events:
                    if event.type == "response.output_text.delta":
                        heard.deltas.append(event.delta)
                    elif event.type in ("response.completed", "response.incomplete"):
                        reply = event.response
            if reply is None:
                raise EarlyEnd
        else:
            reply = self.client.responses.create(**given)
            heard.deltas += [reply.output_text]
        for item in reply.output:
            if item.type == "reasoning":
                heard.thinking += "".join(part.text for part in item.summary)
            elif item.type == "function_call":
                heard.calls.append((item.call_id, item.name, json.loads(item.arguments)))
        heard.finish = reply.status
        heard.usage = (reply.usage.input_tokens, reply.usage.output_tokens)
        self.history += [item.model_dump(exclude_none=True) for item in reply.output]
        return heard

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        for (name, _, _), text in zip(calls, texts, strict=True):
            self.history.append({"type": "function_call_output", "call_id": name, "output": text})

    def spoil_thinking(self) -> None:
        item = next(item for item in self.history if item.get("type") == "reasoning")
        item["encrypted_content"] = item["encrypted_content"][:-8] + "AAAAAAA="


class AnthropicJudge(Judge):
    name = "anthropic"
    finishes: ClassVar = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filtered": "refusal"}

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.client = self.make(url)

    def make(self, url: str) -> Any:
        return anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def ask(self, stream: bool) -> Heard:
        tools = [{"name": t["name"], "description": "", "input_schema": t["parameters"]} for t in self.tools]
        given: dict[str, Any] = {"model": "anthropic.claude", "max_tokens": 99, "messages": self.history}
        given |= {"tools": tools} if tools else {}
        heard = Heard()
        if stream:
            with self.client.messages.stream(**given) as events:
                heard.deltas += [event.text for event in events if event.type == "text"]
                reply = events.get_final_message()
        else:
            reply = self.client.messages.create(**given)
            heard.deltas += [block.text for block in reply.content if block.type == "text"]
        heard.thinking = "".join(block.thinking for block in reply.content if block.type == "thinking")
        heard.calls = [(block.id, block.name, block.input) for block in reply.content if block.type == "tool_use"]
        heard.finish = reply.stop_reason or ""
        heard.usage = (reply.usage.input_tokens, reply.usage.output_tokens)
        content = [block.model_dump(exclude_none=True) for block in reply.content]
        self.history.append({"role": "assistant", "content": content})
        return heard

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        pairs = zip(calls, texts, strict=True)
        blocks = [{"type": "tool_result", "tool_use_id": call[0], "content": text} for call, text in pairs]
        self.history.append({"role": "user", "content": blocks})

    def spoil_thinking(self) -> None:
        block = next(b for m in self.history if isinstance(m["content"], list) for b in m["content"])
        block["thinking"] += "!"

    def failure(self, error: Exception) -> Failure | None:
        if isinstance(error, anthropic.APIStatusError):
            return Failure(error.status_code, str(error), error.response.headers.get("retry-after"))
        return None


class InvokeJudge(AnthropicJudge):
    """Anthropic's own client for Bedrock: InvokeModel, signed, in Amazon's frames."""

    name = "bedrock-invoke"

    def make(self, url: str) -> Any:
        return anthropic.AnthropicBedrock(
            base_url=url, aws_access_key="any", aws_secret_key="any", aws_region="us-east-1", max_retries=0
        )


class BedrockJudge(Judge):
    name = "bedrock"
    finishes: ClassVar = {
        "stop": "end_turn",
        "calls": "tool_use",
        "length": "max_tokens",
        "filtered": "guardrail_intervened",
    }

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.client = boto3.client(
            "bedrock-runtime",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",
            config=Config(retries={"total_max_attempts": 1}),
        )

    def user(self, text: str) -> Any:
        return {"role": "user", "content": [{"text": text}]}

    def ask(self, stream: bool) -> Heard:
        given: dict[str, Any] = {"modelId": "anthropic.claude-v1:0", "messages": self.history}
        if self.tools:
            specs = [{"name": t["name"], "inputSchema": {"json": t["parameters"]}} for t in self.tools]
            given["toolConfig"] = {"tools": [{"toolSpec": spec} for spec in specs]}
        heard = Heard()
        if stream:
            with contextlib.closing(self.client.converse_stream(**given)["stream"]) as events:
                content, said = self._folded(events, heard)
        else:
            said = self.client.converse(**given)
            content = said["output"]["message"]["content"]
            heard.deltas += [block["text"] for block in content if "text" in block]
        heard.thinking = "".join(
            b["reasoningContent"]["reasoningText"]["text"] for b in content if "reasoningContent" in b
        )
        uses = [block["toolUse"] for block in content if "toolUse" in block]
        heard.calls = [(use["toolUseId"], use["name"], use["input"]) for use in uses]
        heard.finish = said["stopReason"]
        heard.usage = (said["usage"]["inputTokens"], said["usage"]["outputTokens"])
        self.history.append({"role": "assistant", "content": content})
        return heard

    def _folded(self, events: Iterator[dict[str, Any]], heard: Heard) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        blocks: dict[int, dict[str, Any]] = {}
        said: dict[str, Any] = {}
        for event in events:
            ((kind, data),) = event.items()
            if kind == "contentBlockStart":
                blocks[data["contentBlockIndex"]] = {"toolUse": {**data["start"]["toolUse"], "input": ""}}
            elif kind == "contentBlockDelta":
                delta = data["delta"]
                block = blocks.setdefault(data["contentBlockIndex"], {})
                if "text" in delta:
                    heard.deltas.append(delta["text"])
                    block["text"] = block.get("text", "") + delta["text"]
                elif "toolUse" in delta:
                    block["toolUse"]["input"] += delta["toolUse"]["input"]
                else:
                    reasoning = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})["reasoningText"]
                    for key, value in delta["reasoningContent"].items():
                        reasoning[key] = reasoning.get(key, "") + value
            elif kind in ("messageStop", "metadata"):
                said |= data
        for block in blocks.values():
            if "toolUse" in block:
                block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
        if "stopReason" not in said:
            raise EarlyEnd
        return list(blocks.values()), said

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        pairs = zip(calls, texts, strict=True)
        blocks = [{"toolResult": {"toolUseId": call[0], "content": [{"text": text}]}} for call, text in pairs]
        self.history.append({"role": "user", "content": blocks})

    def spoil_thinking(self) -> None:
        block = next(b for m in self.history for b in m["content"] if "reasoningContent" in b)
        block["reasoningContent"]["reasoningText"]["text"] += "!"

    def failure(self, error: Exception) -> Failure | None:
        if isinstance(error, botocore.exceptions.EventStreamError):
            return Failure(None, str(error))
        if isinstance(error, botocore.exceptions.ClientError):
            about = error.response["ResponseMetadata"]
            headers = about.get("HTTPHeaders", {})
            return Failure(about.get("HTTPStatusCode"), str(error), headers.get("retry-after"))
        return None


class OllamaJudge(Judge):
    name = "ollama"
    finishes: ClassVar = {"stop": "stop", "calls": "stop", "length": "length", "filtered": "stop"}
    seals = False
    pairs = False

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.client = ollama.Client(url)

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    def ask(self, stream: bool) -> Heard:
        given: dict[str, Any] = {"model": "m", "messages": self.history, "stream": stream}
        given["tools"] = [{"type": "function", "function": tool} for tool in self.tools]
        replies = list(self.client.chat(**given)) if stream else [self.client.chat(**given)]
        heard = Heard()
        for reply in replies:
            heard.thinking += reply.message.thinking or ""
            heard.deltas += [reply.message.content] if reply.message.content else []
            for call in reply.message.tool_calls or ():
                heard.calls.append(("", call.function.name, dict(call.function.arguments)))
        last = replies[-1]
        if not last.done:
            raise EarlyEnd
        heard.finish = last.done_reason or ""
        heard.usage = (last.prompt_eval_count or 0, last.eval_count or 0)
        calls = [{"function": {"name": name, "arguments": arguments}} for _, name, arguments in heard.calls]
        self.history.append({"role": "assistant", "content": heard.text, "tool_calls": calls})
        return heard

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        for (_, name, _), text in zip(calls, texts, strict=True):
            self.history.append({"role": "tool", "tool_name": name, "content": text})

    def failure(self, error: Exception) -> Failure | None:
        if isinstance(error, ollama.ResponseError):
            return Failure(error.status_code if error.status_code > 0 else None, error.error)
        return None


class GeminiJudge(Judge):
    name = "gemini"
    finishes: ClassVar = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY"}

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.client = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=url))

    def user(self, text: str) -> Any:
        return types.Content(role="user", parts=[types.Part(text=text)])

    def ask(self, stream: bool) -> Heard:
        declared = [
            types.FunctionDeclaration(name=t["name"], description="", parameters_json_schema=t["parameters"])
            for t in self.tools
        ]
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=declared)] if declared else None,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        models = self.client.models
        given: dict[str, Any] = {"model": "gemini-3-pro", "contents": self.history, "config": config}
        replies = list(models.generate_content_stream(**given)) if stream else [models.generate_content(**given)]
        heard, parts = Heard(), []
        for reply in replies:
            for part in reply.candidates[0].content.parts or ():
                if part.function_call:
                    heard.calls.append((part.function_call.id, part.function_call.name, part.function_call.args))
                elif part.thought:
                    heard.thinking += part.text
                    continue
                elif part.text:
                    heard.deltas.append(part.text)
                else:
                    continue
                parts.append(part)
        last = replies[-1]
        finish = last.candidates[0].finish_reason
        if finish is None:
            raise EarlyEnd
        heard.finish = finish.value
        heard.usage = (last.usage_metadata.prompt_token_count, last.usage_metadata.candidates_token_count)
        self.history.append(types.Content(role="model", parts=parts))
        return heard

    def results(self, calls: Sequence[tuple[str, str, Any]], texts: Sequence[str]) -> None:
        parts = [
            types.Part(function_response=types.FunctionResponse(id=name, name=tool, response={"result": text}))
            for (name, tool, _), text in zip(calls, texts, strict=True)
        ]
        self.history.append(types.Content(role="user", parts=parts))

    def spoil_thinking(self) -> None:
        part = next(part for content in self.history for part in content.parts if part.function_call)
        part.thought_signature = b"not what it was"

    def failure(self, error: Exception) -> Failure | None:
        if isinstance(error, google.genai.errors.APIError):
            headers = getattr(error.response, "headers", {})
            return Failure(error.code, str(error.message), headers.get("retry-after"))
        return None


JUDGES: tuple[type[Judge], ...] = (
    OpenAIJudge,
    ResponsesJudge,
    AnthropicJudge,
    InvokeJudge,
    BedrockJudge,
    OllamaJudge,
    GeminiJudge,
)


@cache
def judge(kind: type[Judge], url: str) -> Judge:
    """The judge for a server; making an SDK's client is slow."""
    return kind(url)
