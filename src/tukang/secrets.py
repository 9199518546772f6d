"""What looks like a secret in a text, and how it is taken out before the text is written anywhere.

Keys and tokens of the common kinds, what stands under a name that says so, and the texts one is given. It errs on the side of
taking out too much, in the message of an error more than in what people and tools say; bytes and a provider's seals are left
as they are, because they are neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

REMOVED = "[secret]"
"""What stands in the place of a secret."""

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
    | (?<=\bBasic[ ])(?=[A-Za-z0-9+/]+[0-9A-Z+/=])[A-Za-z0-9+/]{8,}={0,2}  # Base64, not a word
    | (?<=://)[^\s/:@"']*:[^\s/@"']+(?=@)                   # user and password in an address
    """,
    re.VERBOSE | re.DOTALL,
)
_BEGINNINGS = (
    *(
        "-----BEGIN ",
        "sk-",
        "sk_",
        "pk-",
        "pk_",
        "rk-",
        "rk_",
        "gsk_",
        "gsk-",
        "hf_",
        "hf-",
        "xai-",
        "xai_",
        "r8_",
        "r8-",
    ),
    *("pplx-", "pplx_", "nvapi-", "nvapi_", "glpat-", "glpat_", "npm_", "npm-", "dop_v1_", "dop_v1-"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "AIza", "ya29.", "AKIA", "ASIA", "ABIA", "ACCA"),
    *("ABSK", "eyJ", "Bearer ", "Basic ", "://"),
)
"""How what the patterns find begins. Looking for these first is thirty times as fast, and most texts have none."""
_WORDS = (
    r"(?:api[_-]?key|apikey|password|passwd|secret(?:[_-]?access)?(?:[_-]?key)?|private[_-]?key|account[_-]?key"
    r"|access[_-]?token|auth[_-]?token|authorization)"
)
_WORDS_IN_ERRORS = (
    rf"(?:{_WORDS}|pwd|passphrase|kata[_\ -]?sandi|secret|token|cookie|signature|(?:api|access|private)[_\ -]?key)"
)
"""In an error a token is somebody's; in a conversation it may be the next page's."""


def _under(names: str) -> re.Pattern[str]:
    return re.compile(
        rf"""({names}\b["']?\s*[:=]\s*)
            (?: (")(?:\\.|[^"\\])+" | (')[^']+' | (?:(?:basic|bearer|digest|token)\s+)?[^\s"',;}}&]{{4,}} )""",
        re.VERBOSE | re.IGNORECASE,
    )


_NAMED, _NAMED_IN_ERRORS = _under(_WORDS), _under(_WORDS_IN_ERRORS)
_CORES = ("key", "pass", "secret", "token", "authorization", "pwd", "sandi", "cookie", "signature")
_NAME = re.compile(rf"[\w-]*{_WORDS}", re.IGNORECASE)
_SEALS = frozenset(("signature", "thought_signature", "thoughtSignature", "redactedContent"))

_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)", re.IGNORECASE)
_PLACE = re.compile(r"_(?:FILE|PATH|DIR|NAME|URL|URI)$", re.IGNORECASE)
_SHORTEST = 8
"""Characters a variable's value must have to be taken for a secret: a shorter one stands in too many innocent texts."""


def secrets_in(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of the variables whose names say that they are secret: `…KEY`, `…TOKEN`, `…SECRET`, `…PASSWORD`, …"""
    return frozenset(
        value
        for name, value in environment.items()
        if len(value) >= _SHORTEST and _VARIABLE.search(name) and not _PLACE.search(name)
    )


class Remover:
    """Removes secrets.

    Args:
        secrets: texts to take out wherever they stand, as they are or as a JSON text has them; longer ones first, empty
            ones never.
        in_errors: whether its texts are the messages of errors.
    """

    def __init__(self, secrets: Iterable[str] = (), *, in_errors: bool = False) -> None:
        given = {secret for secret in secrets if secret}
        given |= {msgspec.json.encode(secret).decode()[1:-1] for secret in given}
        self._given = sorted(given, key=len, reverse=True)
        self._named = _NAMED_IN_ERRORS if in_errors else _NAMED

    def text(self, text: str) -> str:
        """A text without secrets."""
        for secret in self._given:
            text = text.replace(secret, REMOVED)
        if any(beginning in text for beginning in _BEGINNINGS):
            text = _PATTERNS.sub(REMOVED, text)
        lower = text.lower()
        return self._named.sub(_named, text) if any(core in lower for core in _CORES) else text

    def value(self, value: Any) -> Any:
        """A JSON value without secrets in its texts, its keys aside."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in cast("Sequence[Any]", value)]
        if isinstance(value, dict):
            return {key: self._under(key, one) for key, one in cast("dict[str, Any]", value).items()}
        return value

    def arguments(self, text: str) -> str:
        """Arguments of a call without secrets: still JSON where they were, and untouched where there is no secret."""
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return self.text(text)
        clean = self.value(value)
        return text if clean == value else msgspec.json.encode(clean).decode()

    def _under(self, key: str, value: Any) -> Any:
        if key in _SEALS or key.startswith("encrypted_"):
            return value
        if isinstance(value, str) and value and _NAME.fullmatch(key):
            return REMOVED
        return self.value(value)


def _named(found: re.Match[str]) -> str:
    quote = found[2] or found[3] or ""
    return f"{found[1]}{quote}{REMOVED}{quote}"
