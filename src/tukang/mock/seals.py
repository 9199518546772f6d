"""The seals a provider puts on reasoning, and how it knows them again: a signature, or a text only it can read.

A seal is made of what it seals, so that the server has to remember nothing and a change of either is noticed.
"""

from __future__ import annotations

import base64
import hashlib

_PREFIX = "mock-seal:"


def seal(*sealed: str) -> str:
    """The seal of these texts, in base64."""
    digest = hashlib.sha256("\0".join(sealed).encode()).hexdigest()
    return base64.b64encode(f"{_PREFIX}{digest}".encode()).decode()


def is_seal(value: object) -> bool:
    """Whether this is a seal of ours, of whatever."""
    if not isinstance(value, str):
        return False
    try:
        return base64.b64decode(value, validate=True).decode().startswith(_PREFIX)
    except ValueError:
        return False
