"""Where the models behind Amazon Bedrock's Converse API differ in what they take.

Pure. It knows the names of models and the words of refusals; it encodes nothing. Converse is one form for all, but the
models of each maker refuse another part of it. What turns out to be wrong is learned from the refusal (`learn`), and the
loop sends the request again.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html,
https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html,
https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html,
https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html, and recorded requests of all these makers.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec
from msgspec.structs import replace

from tukang.models import anthropic_dialect

_MAKER = re.compile(
    r"(?:^|[./:])(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen"
    r"|writer|zai)\."
)
_NO_STRUCTURE = re.compile(
    r"ai21\.|amazon\.|cohere\.|deepseek\.r1|meta\.|writer\.|pixtral|mistral-(?:7b|small|large-24)|mixtral"
)
_CACHED_CLAUDE = re.compile(r"claude-3-7|claude-3-5-haiku|claude-(?:opus|sonnet|haiku|fable|mythos)")


class Dialect(msgspec.Struct, frozen=True):
    """What one model takes. The defaults are what every model takes that has tools.

    Args:
        maker: whose model it is, as its id says (`anthropic`, `amazon`, …); empty where it does not.
        claude: what Claude takes, where it is one: thinking, forced choice, sampling, strict tools.
        thinking: how reasoning is switched: as Claude does it, as Nova 2 does it, by `reasoning_effort` (gpt-oss) or
            `reasoning_config` (Qwen), or not at all.
        any_tool, one_tool: whether `toolChoice` may be `any`, or name a tool.
        beside_results: whether other content may stand in a message that brings results.
        images_in_results, documents_in_results: whether a result may hold them.
        status: whether a result may say that it is an error.
        s3: whether an address of Amazon S3 may stand for the bytes of an image or a document.
        cache: whether there are cache points: in messages and system, in tools too, or nowhere.
        structured: whether there is `outputConfig.textFormat`.
        interleaved: whether Claude may think between calls when asked to (`anthropic_beta`); older ones refuse the flag.
    """

    maker: str = ""
    claude: anthropic_dialect.Dialect | None = None
    thinking: Literal["none", "claude", "nova", "effort", "config"] = "none"
    any_tool: bool = False
    one_tool: bool = False
    beside_results: bool = False
    images_in_results: bool = False
    documents_in_results: bool = False
    status: bool = True
    s3: bool = False
    cache: Literal["none", "messages", "all"] = "none"
    structured: bool = False
    interleaved: bool = False

    @property
    def provider(self) -> str:
        """Who keeps parts that go back verbatim: one maker's reasoning is refused by the models of another."""
        return f"bedrock:{self.maker}" if self.maker else "bedrock"

    @property
    def thinking_back(self) -> bool:
        """Whether sealed reasoning goes back: only Claude wants it, and only Claude takes it."""
        return self.claude is not None and self.claude.thinking_back

    @property
    def spelling(self) -> str:
        """The name under which encoded messages are kept: all that changes how a message is written."""
        flags = (self.thinking_back, self.images_in_results, self.documents_in_results, self.status, self.s3)
        return f"{self.provider}/converse/" + "".join("+" if flag else "-" for flag in flags)


def dialect_for(model: str) -> Dialect:
    """What is known beforehand of a model, by its id, its inference profile's, or an ARN that ends in one.

    An application inference profile's ARN does not say what is behind it: such a model gets what all models take.
    """
    found = _MAKER.search(model.lower())
    maker = found[1] if found else ""
    structured = bool(maker) and not _NO_STRUCTURE.search(model)
    media = maker in ("meta", "mistral")
    common = Dialect(
        maker,
        any_tool=maker == "mistral",
        images_in_results=media,
        documents_in_results=media,
        status=maker != "writer",
        structured=structured,
    )
    match maker:
        case "anthropic":
            return _claude(model)
        case "amazon" if "nova" in model:
            return _nova(model)
        case "openai":
            return replace(common, thinking="effort")
        case "qwen":
            return replace(common, thinking="config")
        case _:
            return common


def _claude(model: str) -> Dialect:
    claude = anthropic_dialect.dialect_for(model)
    return Dialect(
        "anthropic",
        claude,
        thinking="claude",
        any_tool=claude.forced,
        one_tool=claude.forced,
        beside_results=True,
        images_in_results=True,
        documents_in_results=True,
        cache="all" if _CACHED_CLAUDE.search(model) else "none",
        structured=claude.structured,
        interleaved="claude-3" not in model,
    )


def _nova(model: str) -> Dialect:
    return Dialect(
        "amazon",
        thinking="nova" if "nova-2" in model else "none",
        any_tool=True,
        one_tool=True,
        beside_results=True,
        images_in_results=True,
        s3=True,
        cache="messages",
    )


def learn(dialect: Dialect, complaint: str) -> Dialect:
    """What a refusal (status 400) teaches about the model: the dialect to try next, or the same one.

    Args:
        dialect: the one that was used.
        complaint: Bedrock's words.
    """
    said = complaint.lower()
    if "toolchoice.any" in said:
        return replace(dialect, any_tool=False, one_tool=False)
    if "toolchoice.tool" in said:
        return replace(dialect, one_tool=False)
    if "same turn" in said:
        return replace(dialect, beside_results=False)
    if "cachepoint" in said or "prompt caching" in said or "cache point" in said:
        return replace(dialect, cache="none")
    if "outputconfig" in said or "structured output" in said:
        return replace(dialect, structured=False)
    if "status field" in said:
        return replace(dialect, status=False)
    if dialect.claude is not None:
        return replace(dialect, claude=anthropic_dialect.learn(dialect.claude, complaint))
    return dialect
