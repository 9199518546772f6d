"""`tukang chat`: one session, turn after turn. Ctrl-C ends a turn and keeps the session; at the prompt it leaves.

With `--session` it is kept in a store: it goes on where it was, and so does a turn that was left in the middle.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Collection

from tukang.answer import Answer
from tukang.assistants.katalog import data_folder
from tukang.cli import exits
from tukang.cli.asker import Asker, must_have
from tukang.cli.indonesian import told
from tukang.cli.prompt import Prompt
from tukang.cli.resume import With, asker_of, remember, was_decided
from tukang.cli.screen import Screen, one_line
from tukang.cli.session_texts import SESSION_TEXTS
from tukang.cli.stores import open_store
from tukang.cli.target import Target
from tukang.cli.task_wait import wait_for_tasks
from tukang.cli.texts import Texts
from tukang.cli.turns import follow
from tukang.cli.view import View
from tukang.errors import TukangError

_LEAVE = frozenset({"/keluar", "/quit", "/exit", "/q"})
_FRESH = frozenset({"/baru", "/new"})
_HELP = frozenset({"/bantuan", "/help", "/?"})
_RESUME = frozenset({"/lanjut", "/resume"})


def converse(
    target: Target,
    screen: Screen,
    texts: Texts,
    *,
    user: str | None = None,
    session: str | None = None,
    store: str | None = None,
    approve: Collection[str] = (),
) -> int:
    """Talk until the user leaves.

    Args:
        target, screen, texts: with whom, where, in which language.
        user: for whom, to be kept with the session.
        session: the name it is kept under; None to keep it in memory.
        store: the address of the store; None for the usual one.
        approve: the tools that may run without being asked about.

    Returns:
        0 on a terminal. For lines from a pipe: the code of the last turn that was not answered, if there was one.
    """
    history = data_folder() / "history" / re.sub(r"\W+", "_", target.name)
    prompt = Prompt("› ", history, bold=screen.coloured)
    code = exits.ANSWERED
    must_have(target.agent, approve, target.name, texts)
    _welcome(target, screen, texts)
    with asyncio.Runner() as runner:
        chat = Talk(runner, target, screen, texts, session, store, approve)
        try:
            chat.begin(user)
            while True:
                line = prompt.ask().strip()
                if line in _LEAVE:
                    break
                if line:
                    code = chat.hear(line) or code
        except (EOFError, KeyboardInterrupt):
            screen.note()
        finally:
            prompt.close()
            wait_for_tasks(target, screen, texts)
            chat.end()
    screen.note((texts.bye, "dim"))
    return exits.ANSWERED if sys.stdin.isatty() else code


class Talk:
    """A conversation at the terminal, in memory or kept.

    Args:
        runner: the event loop of all its turns.
        target, screen, texts, session, store, approve: as for `converse`.
    """

    def __init__(
        self,
        runner: asyncio.Runner,
        target: Target,
        screen: Screen,
        texts: Texts,
        session: str | None,
        store: str | None,
        approve: Collection[str] = (),
    ) -> None:
        self._runner = runner
        self._target = target
        self._screen = screen
        self._texts = texts
        self._said = SESSION_TEXTS[texts.language]
        self._store = None if session is None else open_store(store)
        self._session = session
        self._allowed = approve
        self._asker: Asker | None = Asker(screen, texts, approve)
        self._chat = target.agent.session() if session is None else target.agent.session(session, store=self._store)

    def begin(self, user: str | None) -> None:
        """Say where a conversation that is kept has come to."""
        if self._store is None or self._session is None:
            return
        store, said = self._store, self._said
        self._runner.run(remember(store, self._session, With(self._target.name, user)))
        self._asker = self._runner.run(asker_of(store, self._session, self._screen, self._texts, self._allowed))
        info = self._runner.run(store.session(self._session))
        if info.turns:
            kept = said.chat_kept.format(session=info.id, count=info.turns, question=one_line(info.question, 60))
            self._screen.note((kept, "dim"))
        for left in self._runner.run(store.open_turns(self._session)):
            if not left.waits and left.holder is None and self._runner.run(was_decided(store, left.turn)):
                self._turn(None)  # somebody has decided meanwhile
            else:
                self._screen.note((said.chat_waits if left.waits else said.chat_left, "yellow"))

    def hear(self, line: str) -> int:
        """Do what a line says; returns the exit code of a turn, or that of an answer."""
        texts, screen = self._texts, self._screen
        if line in _FRESH and self._session is None:
            self._chat = self._target.agent.session()
            self._asker = Asker(screen, texts, self._allowed)  # what was permitted for the session has gone with it
            screen.note((texts.fresh, "dim"))
        elif line in _FRESH:
            screen.error(texts.error, self._said.no_fresh.format(session=self._session))
        elif line in _HELP:
            screen.note((self._help, "dim"))
        elif line in _RESUME and self._session is not None:
            return self._turn(None)
        elif re.fullmatch(r"/\w*", line):
            screen.error(texts.error, texts.unknown_command.format(command=line) + " " + self._help)
        else:
            return self._turn(line)
        return exits.ANSWERED

    def end(self) -> None:
        """Give the store back what belongs to it."""
        if self._store is not None:
            self._runner.run(self._store.close())

    @property
    def _help(self) -> str:
        return self._texts.chat_help if self._session is None else self._said.chat_help

    def _turn(self, line: str | None) -> int:
        """Ask, or go on with the turn that was left."""
        screen, texts = self._screen, self._texts
        view = View(screen, texts, self._target.models)
        screen.busy(texts.preparing + " …")
        try:
            answer = self._runner.run(self._asked(line, view))
        except TukangError as error:  # the next turn may fare better; the session is as it was
            screen.still()
            screen.error(texts.error, told(str(error), texts.language))
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

    async def _asked(self, line: str | None, view: View) -> Answer | None:
        context = self._target.context
        if line is None:
            return await follow(self._chat.resume_stream(context=context, approve=self._asker), view.see)
        return await follow(self._chat.stream(line, context=context, approve=self._asker), view.see)


def _welcome(target: Target, screen: Screen, texts: Texts) -> None:
    if sys.stdin.isatty():
        screen.note((texts.welcome.format(name=target.name), "bold"))
    if target.knows_callers:
        user = getattr(target.context, "user_id", None)
        screen.note((texts.as_user.format(user=user) if user else texts.as_nobody, "dim"))
