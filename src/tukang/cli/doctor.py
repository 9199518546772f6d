"""`tukang doctor`: is everything there, and which model would be used? Looks; changes nothing, asks nobody on the network.

A key is reported as set or not set; its value is never read further than that.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec
from dotenv import dotenv_values, find_dotenv

from tukang.assistants.katalog import data_folder
from tukang.cli.indonesian import told
from tukang.cli.language import why
from tukang.cli.machine_texts import MACHINE_TEXTS
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.models.local import machine, weights
from tukang.models.names import choose

Mark = Literal["✓", "·", "✗"]
"""Good, beside the point here, bad."""

_DECISIVE = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")
"""What decides which model is used when none is named; shown also where it is not set."""

_OTHERS = (
    *("OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "AZURE_OPENAI_API_KEY"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    *("OLLAMA_HOST", "OLLAMA_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
)
"""What configures the other providers; shown where it is set."""

_OLDEST_PYTHON = (3, 11)

_PROGRAMS = {
    "bash": {"bwrap": "bubblewrap"},
    "computer": {"xdotool": "xdotool", "import": "imagemagick", "Xvfb": "xvfb"},
}
"""What a tool of the machine (`--tool`) needs, and the package of Debian's that it is in."""


class Finding(msgspec.Struct, frozen=True):
    """One line of the report. `fix` says how to mend it."""

    what: str
    mark: Mark
    says: str
    fix: str = ""


def examine(texts: Texts, model: str | None = None) -> list[Finding]:
    """Look at everything a turn would need.

    Args:
        texts: the language.
        model: the model to choose; what the environment offers when None.
    """
    dotenv = find_dotenv(usecwd=True)
    keys = _keys(texts, dotenv)  # before the model is chosen: choosing loads the file into the environment
    chosen, local = _model(texts, model)
    tools = [_programs(texts, tool) for tool in _PROGRAMS]
    return [*_base(texts), *tools, *_local(texts, needed=local), *keys, _dotenv(texts, dotenv), _data(texts), chosen]


def _base(texts: Texts) -> list[Finding]:
    good = sys.version_info >= _OLDEST_PYTHON
    python = ".".join(map(str, sys.version_info[:3]))
    return [
        _finding(texts, "python", "✓" if good else "✗", python, "" if good else texts.fix_python),
        _finding(texts, "tukang", "✓", version("tukang")),
        _finding(texts, "cli", "✓", texts.installed),
    ]


def _programs(texts: Texts, tool: str) -> Finding:
    said = MACHINE_TEXTS[texts.language]
    row, missing = said.row.format(tool=tool), [name for name in _PROGRAMS[tool] if shutil.which(name) is None]
    if not missing:
        return Finding(row, "✓", texts.installed)
    packages = " ".join(_PROGRAMS[tool][name] for name in missing)
    fix = said.fix.format(packages=packages, tool=tool)
    return Finding(row, "·", said.missing.format(programs=", ".join(missing)), fix)


def _model(texts: Texts, model: str | None) -> tuple[Finding, bool]:
    """Which model it would be, and whether that is the local one with the official weights."""
    try:
        choice = choose(model)
    except ConfigurationError as error:
        local = model is None or model.partition(":")[0] == "local"
        said = told(str(error), texts.language)
        return _finding(texts, "model", "✗", said), local and find_spec("xllamacpp") is None
    said = texts.chosen.format(name=choice.model.name, why=why(choice.why, texts.language))
    return _finding(texts, "model", "✓", said), choice.model.name == "local"


def _local(texts: Texts, *, needed: bool) -> list[Finding]:
    """The local model's needs; what is short is bad only when the local model would be used."""
    bad: Mark = "✗" if needed else "·"
    engine = find_spec("xllamacpp") is not None
    joined = weights._is_known(_weights_path(), weights.OFFICIAL)  # pyright: ignore[reportPrivateUsage]
    pieces = joined or weights.is_installed()
    state = texts.ready if joined else texts.not_joined if pieces else texts.no_weights
    return [
        _finding(
            texts,
            "local",
            "✓" if engine else bad,
            texts.installed if engine else texts.not_installed,
            "" if engine else texts.fix_install_local,
        ),
        _finding(texts, "weights", "✓" if pieces else bad, state, "" if pieces else texts.fix_install_local),
        _space(
            texts,
            "memory",
            machine.free_memory(),
            weights.OFFICIAL.size + machine.WORKING_MEMORY,
            bad,
            texts.fix_memory,
        ),
        _space(texts, "disk", _free_disk(), 0 if joined else weights.OFFICIAL.size, bad, texts.fix_disk),
    ]


def _space(texts: Texts, what: str, free: int | None, needed: int, bad: Mark, fix: str) -> Finding:
    if free is None:
        return _finding(texts, what, "·", texts.unknown)
    if free >= needed:
        return _finding(texts, what, "✓", texts.free.format(free=_gigabytes(free)))
    said = texts.free_of.format(free=_gigabytes(free), needed=_gigabytes(needed))
    return _finding(texts, what, bad, said, fix)


def _keys(texts: Texts, dotenv: str) -> list[Finding]:
    beside = dotenv_values(dotenv) if dotenv else {}
    findings: list[Finding] = []
    for name in (*_DECISIVE, *_OTHERS):
        own, filed = bool(os.environ.get(name)), bool(beside.get(name))
        if name in _OTHERS and not own and not filed:
            continue
        said = texts.key_set if own or filed else texts.key_unset
        source = f", {texts.from_dotenv}" if filed and not own else ""
        findings.append(Finding(name, "✓" if own or filed else "·", said + source))
    return findings


def _dotenv(texts: Texts, path: str) -> Finding:
    return _finding(texts, "dotenv", "✓" if path else "·", texts.found.format(path=path) if path else texts.not_found)


def _data(texts: Texts) -> Finding:
    try:
        folder = data_folder()
    except ConfigurationError as error:
        return _finding(texts, "data", "✗", told(str(error), texts.language))
    above = _nearest(folder)
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        return _finding(texts, "data", "✓", texts.writable.format(path=folder))
    return _finding(texts, "data", "✗", texts.unwritable.format(path=folder), texts.fix_data)


def _finding(texts: Texts, row: str, mark: Mark, says: str, fix: str = "") -> Finding:
    return Finding(texts.doctor_rows[row], mark, says, fix)


def _weights_path() -> Path:
    return weights.cache_folder() / "models" / f"{weights.OFFICIAL.name}.gguf"


def _free_disk() -> int | None:
    try:
        return shutil.disk_usage(_nearest(weights.cache_folder())).free
    except OSError:
        return None


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    return next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))


def _gigabytes(amount: int) -> str:
    return f"{amount / 1e9:.1f} GB"
