"""The loop people write, which tukang is measured against: the official `openai` SDK, schemas, and a dict of functions."""

from __future__ import annotations

import json
from typing import Any

from openai import OpenAI

from bench.tools import FUNCTIONS, INSTRUCTIONS, SCHEMAS


def client(base_url: str) -> OpenAI:
    """One client, kept for all turns, as a careful user would."""
    return OpenAI(base_url=base_url, api_key="none-needed", max_retries=0)


def run(openai: OpenAI, model: str, question: str, rounds: int) -> str:
    """One turn: at most `rounds` replies may ask for tools."""
    messages: list[Any] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": question},
    ]
    for _ in range(rounds + 1):
        completion = openai.chat.completions.create(model=model, messages=messages, tools=SCHEMAS)  # type: ignore[arg-type]
        message = completion.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            assert call.type == "function"
            try:
                result = FUNCTIONS[call.function.name](**json.loads(call.function.arguments))
            except Exception as error:
                result = {"error": str(error)}
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result, ensure_ascii=False)}
            )
    return "too many rounds"
