"""Amazon Bedrock, the reply's side: Converse, and InvokeModel for Anthropic's models.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html and
…/API_runtime_InvokeModelWithResponseStream.html.

* A Converse stream is frames of Amazon's, whose name is in a header: messageStart, for each block [contentBlockStart, for a
  call] → contentBlockDelta → contentBlockStop, then messageStop with the stop reason, and metadata with the usage after it.
* InvokeModel has Anthropic's events in frames named `chunk`, each in base64.
* Error: `{"message"}`, with its name in the header `x-amzn-ErrorType`; in a stream it is a frame of the type `exception`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

import msgspec

from tukang.conversation import Usage
from tukang.mock.frames import aws_event, aws_exception
from tukang.mock.replies.anthropic import AnthropicSpeech
from tukang.mock.seals import seal
from tukang.mock.values import JSON, Fault, Frame, Spoken, as_object, pieces

_FINISH = {
    "stop": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "filtered": "guardrail_intervened",
    "refused": "content_filtered",
}
_EXCEPTIONS = {
    400: "ValidationException",
    401: "AccessDeniedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}
_IN_STREAM = {
    "ValidationException": "validationException",
    "ThrottlingException": "throttlingException",
    "ServiceUnavailableException": "serviceUnavailableException",
    "InternalServerException": "internalServerException",
}
"""Only these can stand in a stream; anything else is `modelStreamErrorException`."""


def error(fault: Fault) -> JSON:
    """The body of an error."""
    return {"message": fault.message}


def error_name(fault: Fault) -> str:
    """What the header `x-amzn-ErrorType` says."""
    return _EXCEPTIONS.get(fault.status, "ValidationException" if fault.status < 500 else "InternalServerException")


def _exception(fault: Fault) -> Frame:
    return aws_exception(_IN_STREAM.get(error_name(fault), "modelStreamErrorException"), error(fault))


class ConverseSpeech:
    """One reply in Converse."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._finish = _FINISH.get(spoken.finish, "end_turn")

    def whole(self) -> JSON:
        content = [block for block, _, _ in self._blocks()]
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": self._finish,
            "usage": _usage(self._spoken.usage),
            "metrics": {"latencyMs": 1},
        }

    def deltas(self) -> Iterator[Frame]:
        yield aws_event("messageStart", {"role": "assistant"})
        for index, (_, start, deltas) in enumerate(self._blocks()):
            at = {"contentBlockIndex": index}
            if start:  # only calls have a start
                yield aws_event("contentBlockStart", {**at, "start": start})
            for delta in deltas:
                yield aws_event("contentBlockDelta", {**at, "delta": delta}, delta=True)
            yield aws_event("contentBlockStop", at)

    def ending(self) -> Iterator[Frame]:
        yield aws_event("messageStop", {"stopReason": self._finish})
        yield aws_event("metadata", {"usage": _usage(self._spoken.usage), "metrics": {"latencyMs": 1}})

    def broken(self, fault: Fault) -> Iterator[Frame]:
        yield _exception(fault)

    def _blocks(self) -> Iterator[tuple[JSON, JSON, list[JSON]]]:
        """Each block as it is when complete, what it starts with, and the deltas that lead there."""
        thinking = self._spoken.thinking
        if thinking:
            said = {"text": thinking, "signature": seal(thinking)}
            steps = [*({"text": piece} for piece in pieces(thinking)), {"signature": said["signature"]}]
            yield {"reasoningContent": {"reasoningText": said}}, {}, [{"reasoningContent": step} for step in steps]
        if self._spoken.text:
            yield {"text": "".join(self._spoken.text)}, {}, [{"text": piece} for piece in self._spoken.text]
        for call in self._spoken.calls:
            start = {"toolUseId": call.id, "name": call.name}
            given = as_object(call.arguments)
            deltas: list[JSON] = [{"toolUse": {"input": piece}} for piece in pieces(call.arguments)]
            whole = {**start, "input": call.arguments if given is None else given}
            yield {"toolUse": whole}, {"toolUse": start}, deltas


class InvokeSpeech(AnthropicSpeech):
    """One reply of InvokeModel: Anthropic's, in Amazon's frames."""

    def frame(self, event: JSON, timed: bool = False) -> Frame:
        return aws_event("chunk", {"bytes": base64.b64encode(msgspec.json.encode(event)).decode()}, delta=timed)

    def broken(self, fault: Fault) -> Iterator[Frame]:
        yield _exception(fault)


def _usage(usage: Usage) -> JSON:
    return {
        "inputTokens": max(0, usage.input - usage.cache_read - usage.cache_write),
        "outputTokens": usage.output,
        "totalTokens": usage.total,
        "cacheReadInputTokens": usage.cache_read,
        "cacheWriteInputTokens": usage.cache_write,
    }
