"""The names of keys as models write them, as X knows them. A table, and its reading."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tukang.tools.outcome import NothingDone

MODIFIERS: Mapping[str, str] = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "shift": "shift",
    "alt": "alt",
    "option": "alt",
    "super": "super",
    "cmd": "super",
    "command": "super",
    "meta": "super",
    "win": "super",
    "windows": "super",
}
_NAMED: Mapping[str, str] = {
    "return": "Return",
    "enter": "Return",
    "tab": "Tab",
    "escape": "Escape",
    "esc": "Escape",
    "space": "space",
    "backspace": "BackSpace",
    "delete": "Delete",
    "del": "Delete",
    "insert": "Insert",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "arrowup": "Up",
    "arrowdown": "Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "home": "Home",
    "end": "End",
    "page_up": "Page_Up",
    "pageup": "Page_Up",
    "prior": "Page_Up",
    "page_down": "Page_Down",
    "pagedown": "Page_Down",
    "next": "Page_Down",
    "caps_lock": "Caps_Lock",
    "capslock": "Caps_Lock",
    "menu": "Menu",
    "print": "Print",
    "printscreen": "Print",
    "plus": "plus",
    "minus": "minus",
} | MODIFIERS
_OTHER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


def combination(text: str) -> str:
    """One key, or several joined by `+`, as X names them.

    Raises:
        NothingDone: it is not that.
    """
    text = text.strip()
    plus = text == "+" or text.endswith("++")  # the key itself, last
    names = [name.strip() for name in (text.removesuffix("+").removesuffix("+") if plus else text).split("+")]
    names = [name for name in names if name or not plus] + ["+"] * plus
    if not 1 <= len(names) <= 6 or not all(names):
        raise NothingDone(
            f"{text[:60]!r} is not a key or a combination of keys", "Such as Return, ctrl+s or shift+Tab."
        )
    return "+".join(map(_key, names))


def modifiers(text: str) -> list[str]:
    """Keys to hold while something is clicked.

    Raises:
        NothingDone: one of them is none of those.
    """
    names = [name.strip().lower() for name in text.split("+")]
    if not all(name in MODIFIERS for name in names):
        raise NothingDone(f"{text[:60]!r} cannot be held while clicking", "ctrl, shift, alt and super can.")
    return [MODIFIERS[name] for name in names]


def _key(name: str) -> str:
    if named := _NAMED.get(name.lower()):
        return named
    if len(name) == 1 and name.isprintable():
        return name if name.isascii() and name.isalnum() else f"U{ord(name):04X}"
    if re.fullmatch(r"[fF]([1-9]|1\d|2[0-4])", name):
        return name.upper()
    if _OTHER.fullmatch(name):
        return name
    raise NothingDone(f"there is no key {name[:40]!r}", "Such as Return, ctrl+s or shift+Tab.")
