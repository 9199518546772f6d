"""From the command line's words to an exit code: language first, then the command, then what became of it.

The one place where an exception becomes a sentence. A user sees one or two lines that say how to fix it; `--debug` shows the
traceback.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from typing import Any, TextIO

import msgspec

from tukang.cli import exits
from tukang.cli.indonesian import told
from tukang.cli.language import language_of
from tukang.cli.screen import Screen
from tukang.cli.surroundings import at_fault
from tukang.cli.texts import TEXTS, Texts
from tukang.errors import ConfigurationError, TukangError
from tukang.tools.failure import words

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What an output that takes no more says: no fault of ours."""


class Preferences(msgspec.Struct, frozen=True):
    """What holds for every command, wherever it stands on the line."""

    language: str | None = None
    debug: bool = False


def run(arguments: list[str]) -> int:
    """Run a command; returns the exit code, whatever happens."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIO) or hasattr(stream, "reconfigure"):
            with contextlib.suppress(AttributeError, ValueError):
                stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    texts = TEXTS["en"]
    with contextlib.suppress(ConfigurationError):
        texts = TEXTS[language_of(None, os.environ)]  # until the line says otherwise
    preferences = Preferences()
    try:
        preferences, rest = split(arguments)
        texts = TEXTS[language_of(preferences.language, os.environ)]
        return _command(rest, texts)
    except BrokenPipeError:
        # whoever read our output has enough; Python must not complain when it flushes at exit
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.PARTIAL
    except KeyboardInterrupt:
        Screen().error(texts.error, texts.interrupted)
        return exits.INTERRUPTED
    except TukangError as error:
        _explain(texts.error, told(str(error), texts.language), debug=preferences.debug)
        return exits.of_error(error)
    except Exception as error:
        # Typer's own copy of Click has no public name for the root of its usage errors
        if hasattr(error, "format_message"):
            return _misused(error, texts, debug=preferences.debug)
        return _broke(error, texts, debug=preferences.debug)


def _open_what_is_closed() -> None:
    """A stream that was closed (`>&-`) before we came is None; then what is written there goes nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def split(arguments: list[str]) -> tuple[Preferences, list[str]]:
    """Take `--lang` and `--debug` out, up to a `--`: they may stand before or behind the command.

    Raises:
        ConfigurationError: `--lang` says no language.
    """
    language, debug, rest = None, False, list[str]()
    words_left = iter(arguments)
    for word in words_left:
        if word == "--":
            rest += [word, *words_left]
        elif word == "--debug":
            debug = True
        elif word == "--lang":
            language = next(words_left, None)
            if language is None:
                raise ConfigurationError("--lang needs a language: id or en")
        elif word.startswith("--lang="):
            language = word.removeprefix("--lang=")
        else:
            rest.append(word)
    return Preferences(language, debug), rest


def _command(arguments: list[str], texts: Texts) -> int:
    import typer

    from tukang.cli.app import build

    command = typer.main.get_command(build(texts))
    code = command.main(arguments, prog_name="tukang", standalone_mode=False)
    return code if isinstance(code, int) else exits.ANSWERED


def _misused(error: Any, texts: Texts, *, debug: bool) -> int:
    """What the parser of the command line does not take; a group without one of its commands is told what there are."""
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":
        print(context.get_help(), file=sys.stderr)
        return exits.USAGE
    command = getattr(context, "command_path", "tukang") or "tukang"
    said = told(error.format_message(), texts.language)
    _explain(texts.usage, f"{said}\n{texts.see_help.format(command=command)}", debug=debug)
    return exits.USAGE


def _broke(error: Exception, texts: Texts, *, debug: bool) -> int:
    """What nobody foresaw: the fault of what is around the program, where that can be seen; else one of the program."""
    if around := at_fault(error, texts.language):
        _explain(texts.error, around, debug=debug)
        return exits.USAGE
    if isinstance(error, OSError) and error.errno in _FULL:
        said = error.strerror or words(error)
    else:
        said = texts.crashed.format(error=words(error))
    _explain(texts.error, told(said, texts.language), debug=debug)
    return exits.PARTIAL


def _explain(label: str, message: str, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    Screen().error(label, message)
