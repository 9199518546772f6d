"""Takes secrets out of what is about to be written to a recording.

What looks like a key or a token of the common kinds, what stands under a name that says so, and the texts it is given. It
errs on the side of taking out too much; bytes and a provider's seals are left as they are, because they are neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import msgspec

from tukang.models.base import ArgumentsDelta, ModelEvent, PartCompleted, ReplyEnded, TextDelta, ThinkingDelta

REMOVED = "[secret]"

_PATTERNS = re.compile(
    r"""
      -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}                # OpenAI, Anthropic, OpenRouter, DeepSeek, Stripe
    | \b(?:gsk|hf|xai|r8|pplx|nvapi|glpat|npm|dop_v1)[-_][A-Za-z0-9_-]{16,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}                    # Slack
    | \bAIza[A-Za-z0-9_-]{30,} | \bya29\.[A-Za-z0-9_-]{20,}
    | \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b | \bABSK[A-Za-z0-9+/=]{20,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*  # a JSON Web Token
    | (?<=\bBearer[ ])[A-Za-z0-9._~+/=-]{8,}
    | (?<=://)[^\s/:@"']+:[^\s/@"']+(?=@)                   # user and password in an address
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = r"(?:api[_-]?key|apikey|password|passwd|secret|access[_-]?token|auth[_-]?token|authorization)"
_NAMED = re.compile(
    rf"""(["']?\b[\w-]{{0,40}}{_WORDS}\b["']?\s*[:=]\s*)
        (?: (")(?:\\.|[^"\\])+" | (')[^']+' | [^\s"',;}}&]{{4,}} )""",
    re.VERBOSE | re.IGNORECASE,
)
_NAME = re.compile(rf"[\w-]*{_WORDS}", re.IGNORECASE)
_SEALS = frozenset(("signature", "encrypted_content", "thought_signature", "thoughtSignature", "redactedContent"))


def _named(found: re.Match[str]) -> str:
    quote = found[2] or found[3] or ""
    return f"{found[1]}{quote}{REMOVED}{quote}"


class Remover:
    """Removes secrets.

    Args:
        secrets: texts to take out wherever they stand; longer ones first, empty ones never.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._given = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """A text without secrets."""
        for secret in self._given:
            text = text.replace(secret, REMOVED)
        return _NAMED.sub(_named, _PATTERNS.sub(REMOVED, text))

    def value(self, value: Any) -> Any:
        """A JSON value without secrets in its texts, its keys aside."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in cast("Sequence[Any]", value)]
        if isinstance(value, dict):
            return {key: self._under(key, one) for key, one in cast("dict[str, Any]", value).items()}
        return value

    def _under(self, key: str, value: Any) -> Any:
        if key in _SEALS:
            return value
        if isinstance(value, str) and value and _NAME.fullmatch(key):
            return REMOVED
        return self.value(value)

    def events(self, events: Sequence[ModelEvent]) -> Iterator[ModelEvent]:
        """Events without secrets, also where a secret came in pieces: then the pieces stand as one at the first's place."""
        pieces: dict[tuple[type, int], list[int]] = {}
        for place, event in enumerate(events):
            if isinstance(event, (TextDelta, ThinkingDelta, ArgumentsDelta)):
                key = event.key if isinstance(event, ArgumentsDelta) else 0
                pieces.setdefault((type(event), key), []).append(place)
        mended: dict[int, str | None] = {}
        for places in pieces.values():
            for run in _runs(places, events):
                whole = "".join(cast("TextDelta", events[place]).text for place in run)
                if (clean := self.text(whole)) != whole:
                    mended.update(dict.fromkeys(run[1:]))
                    mended[run[0]] = clean
        for place, event in enumerate(events):
            if place not in mended:
                yield self._event(event)
            elif (text := mended[place]) is not None:
                yield msgspec.structs.replace(cast("TextDelta", event), text=text)

    def _event(self, event: ModelEvent) -> ModelEvent:
        if isinstance(event, PartCompleted):
            plain = msgspec.to_builtins(event, builtin_types=(bytes,))
            return msgspec.convert(self.value(plain), PartCompleted)
        if isinstance(event, ReplyEnded) and event.refusal:
            return msgspec.structs.replace(event, refusal=self.text(event.refusal))
        return event


def _runs(places: Sequence[int], events: Sequence[ModelEvent]) -> Iterator[list[int]]:
    """Pieces that make one text: a call's arguments however they are mixed, words until something else comes between."""
    if isinstance(events[places[0]], ArgumentsDelta):
        yield list(places)
        return
    run: list[int] = []
    for place in places:
        if run and place != run[-1] + 1:
            yield run
            run = []
        run.append(place)
    yield run
