"""The forms of recorded requests: what each protocol calls tools, results and instructions, and what is compared of its
messages. The adapters under test are not used to read.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.wire.forms.anthropic import ANTHROPIC
from tests.wire.forms.bedrock import CONVERSE, INVOKE
from tests.wire.forms.chat import CHAT, OLLAMA
from tests.wire.forms.gemini import GEMINI
from tests.wire.forms.reading import Form
from tests.wire.forms.responses import RESPONSES

FORMS: Mapping[str, Form] = {
    "anthropic": ANTHROPIC,
    "bedrock_converse": CONVERSE,
    "bedrock_invoke": INVOKE,
    "gemini": GEMINI,
    "ollama": OLLAMA,
    "openai_chat": CHAT,
    "openai_chat_compat": CHAT,
    "openai_responses": RESPONSES,
    "openai_responses_compat": RESPONSES,
}
