"""`tukang chat`: one session, turn after turn. Ctrl-C ends a turn and keeps the session; at the prompt it leaves."""

from __future__ import annotations

import asyncio
import re
import sys

from tukang.agent import Chat
from tukang.answer import Answer
from tukang.assistants.katalog import data_folder
from tukang.cli import exits
from tukang.cli.prompt import Prompt
from tukang.cli.screen import Screen
from tukang.cli.target import Target
from tukang.cli.texts import Texts
from tukang.cli.turns import follow
from tukang.cli.view import View
from tukang.errors import TukangError

_LEAVE = frozenset({"/keluar", "/quit", "/exit", "/q"})
_FRESH = frozenset({"/baru", "/new"})
_HELP = frozenset({"/bantuan", "/help", "/?"})


def converse(target: Target, screen: Screen, texts: Texts) -> int:
    """Talk until the user leaves.

    Returns:
        0 on a terminal. For lines from a pipe: the code of the last turn that was not answered, if there was one.
    """
    history = data_folder() / "history" / re.sub(r"\W+", "_", target.name)
    prompt = Prompt("› ", history, bold=screen.coloured)
    chat, code = target.agent.session(), exits.ANSWERED
    _welcome(target, screen, texts)
    with asyncio.Runner() as runner:
        try:
            while True:
                line = prompt.ask().strip()
                if line in _LEAVE:
                    break
                if line in _FRESH:
                    chat = target.agent.session()
                    screen.note((texts.fresh, "dim"))
                elif line in _HELP:
                    screen.note((texts.chat_help, "dim"))
                elif re.fullmatch(r"/\w*", line):
                    screen.error(texts.error, texts.unknown_command.format(command=line) + " " + texts.chat_help)
                elif line:
                    code = _turn(runner, chat, line, target, screen, texts) or code
        except (EOFError, KeyboardInterrupt):
            screen.note()
        finally:
            prompt.close()
    screen.note((texts.bye, "dim"))
    return exits.ANSWERED if sys.stdin.isatty() else code


def _turn(runner: asyncio.Runner, chat: Chat, line: str, target: Target, screen: Screen, texts: Texts) -> int:
    view = View(screen, texts, target.models)
    screen.busy(texts.preparing + " …")
    try:
        answer = runner.run(_ask(chat, line, target, view))
    except TukangError as error:  # the next turn may fare better; the session is as it was
        screen.still()
        screen.error(texts.error, str(error))
        return exits.of_error(error)
    except KeyboardInterrupt:  # the second Ctrl-C in one turn
        screen.still()
        answer = None
    if answer is None:
        screen.still()
        screen.note((texts.interrupted, "yellow"))
        return exits.INTERRUPTED
    view.finish(answer)
    return exits.of_answer(answer)


async def _ask(chat: Chat, line: str, target: Target, view: View) -> Answer | None:
    return await follow(chat.stream(line, context=target.context), view.see)


def _welcome(target: Target, screen: Screen, texts: Texts) -> None:
    if sys.stdin.isatty():
        screen.note((texts.welcome.format(name=target.name), "bold"))
    if target.knows_callers:
        user = getattr(target.context, "user_id", None)
        screen.note((texts.as_user.format(user=user) if user else texts.as_nobody, "dim"))
