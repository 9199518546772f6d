"""Where Claude's models differ in what the Messages API takes from them.

Pure. It knows the names of models and the words of refusals; it encodes nothing. The rules are told by family and version, so
that a model which comes out tomorrow is treated like its newest sister; what turns out to be wrong is learned from the
refusal (`learn`), and the loop sends the request again.

Sources: https://platform.claude.com/docs/en/build-with-claude/thinking,
https://platform.claude.com/docs/en/about-claude/models/migration-guide,
https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5,
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec
from msgspec.structs import replace

from tukang.models.anthropic_defined import TOOLSET, forms_of, refused

_NEW_NAME = re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)(?:-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?|-preview)?")
_OLD_NAME = re.compile(
    r"claude-(?:instant-)?v?(\d)(?!\d)(?:[-.](\d{1,2})(?!\d))?(?:-(opus|sonnet|haiku|fable|mythos))?"
)

_OWN_TOOL = re.compile(r"\b(?:web_search|web_fetch|code_execution)_20\d{6}\b")

DEFAULT_MAX_TOKENS = 8192
"""The longest reply when nobody says: the protocol wants a number. Manual thinking comes on top of it."""


class Dialect(msgspec.Struct, frozen=True):
    """What one model takes.

    Args:
        thinking: `manual` with a budget of tokens, `adaptive` with an effort, or `none` at all.
        off: how thinking is turned off: by saying nothing, by `disabled`, by `between_tools` (the least there is), or
            never: then the least effort is asked for.
        forced: whether `tool_choice` may be `any` or a tool.
        sampling: whether `temperature` and `top_p` go together, alone, or not at all.
        prefill: whether a conversation may end in the middle of an assistant's message.
        structured: whether there are strict tools and `output_config.format`.
        strict: whether tools are made strict where their schemas allow it; off once the provider found it too much.
        max_tokens: the limit sent where nobody sets one.
        thinking_back: whether signed thinking goes back; off once the provider found a signature invalid.
        forms: the tools it was trained on, in the forms it takes; see `anthropic_defined`.
        newest_tools: whether its own tools are asked for in their newest version; else in their first.
        drop_unbound: whether the provider is asked to drop thinking that does not fit its conversation any more, instead of
            refusing the request.
    """

    thinking: Literal["none", "manual", "adaptive"] = "manual"
    off: Literal["omit", "disabled", "between_tools", "never"] = "omit"
    forced: bool = True
    sampling: Literal["both", "one", "none"] = "both"
    prefill: bool = False
    structured: bool = False
    strict: bool = True
    max_tokens: int = DEFAULT_MAX_TOKENS
    thinking_back: bool = True
    drop_unbound: bool = False
    newest_tools: bool = False
    forms: tuple[str, ...] = ()

    @property
    def toolset(self) -> bool:
        """Whether the calls of a toolset go back as such."""
        return TOOLSET in self.forms

    @property
    def spelling(self) -> str:
        """The name under which encoded messages are kept: all that changes how a message is written."""
        spelling = "anthropic" if self.thinking_back else "anthropic/without thinking"
        return spelling + "/toolset" if self.toolset else spelling


def dialect_for(model: str) -> Dialect:
    """What is known beforehand of a model, by its name on any platform (`claude-opus-4-6`, `us.anthropic.claude-…-v1:0`).

    A name that is none of Claude's gets the oldest common ground: other servers speak this protocol too.
    """
    known = _version(model.lower())
    if known is None:
        return Dialect()
    family, version = known
    above = family in ("fable", "mythos")
    adaptive = version >= (4, 6)
    off: Literal["omit", "disabled", "between_tools", "never"] = "omit"
    if above or (family == "opus" and version >= (5, 5)):
        off = "never"
    elif family == "sonnet" and version >= (5, 5):
        off = "between_tools"
    elif version >= (5, 0):
        off = "disabled"
    return Dialect(
        thinking="adaptive" if adaptive else "manual" if version >= (3, 7) else "none",
        off=off,
        forced=version < ((5, 1) if above else (5, 5)),
        sampling="both" if version < (4, 1) else "one" if version < (4, 7) else "none",
        prefill=not adaptive,
        structured=version >= (4, 5),
        max_tokens=4096 if version < (3, 5) else DEFAULT_MAX_TOKENS,
        newest_tools=adaptive,
        forms=forms_of(family, version),
    )


def _version(model: str) -> tuple[str, tuple[int, int]] | None:
    if found := _NEW_NAME.search(model):
        family, major, minor = found.groups()
        # `claude-sonnet-4` and a bare alias have no minor version; a preview is the first of its family.
        return family, (int(major or 5), int(minor or 0))
    if found := _OLD_NAME.search(model):
        major, minor, family = found.groups()
        return family or "", (int(major), int(minor or 0))
    return None


def learn(dialect: Dialect, complaint: str) -> Dialect:
    """What a refusal (status 400) teaches about the model: the dialect to try next, or the same one.

    Args:
        dialect: the one that was used.
        complaint: the provider's words.
    """
    said = complaint.lower()
    if dialect.newest_tools and _OWN_TOOL.search(said):
        return replace(dialect, newest_tools=False)
    if (left := refused(dialect.forms, said)) != dialect.forms:
        return replace(dialect, forms=left)
    if "signature" in said and "thinking" in said:
        bound = "bound to a different conversation" in said
        if bound and dialect.thinking == "adaptive" and not dialect.drop_unbound:
            return replace(dialect, drop_unbound=True)
        return replace(dialect, thinking_back=False)
    if "grammar" in said or "strict" in said or "too complex" in said or "optional parameters" in said:
        return replace(dialect, strict=False)
    if "prefill" in said:
        return replace(dialect, prefill=False)
    if "tool_choice" in said and ("force" in said or "not supported" in said):
        return replace(dialect, forced=False)
    if "thinking" in said and "support" in said:
        return _other_thinking(dialect, said)
    if "temperature" in said or "top_p" in said:
        both = "cannot both" in said or "both be specified" in said
        return replace(dialect, sampling="one" if both and dialect.sampling == "both" else "none")
    return dialect


def _other_thinking(dialect: Dialect, said: str) -> Dialect:
    if "disabled" in said:
        return replace(dialect, off="between_tools" if "between_tools" in said else "never")
    if "thinking.type.enabled" in said or "budget_tokens" in said:
        return replace(dialect, thinking="adaptive")
    if "adaptive" in said:
        return replace(dialect, thinking="manual")
    return dialect
