"""`tukang sessions resume`: goes on with turns that were left in the middle, each with the agent that began it.

A chat that is kept says in its store which assistant it is with, and for whom (`remember`), so that going on needs no more
than the session's name.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Collection

import msgspec

from tukang.answer import Answer
from tukang.approvals.elsewhere import until_decided
from tukang.approvals.standing import Standing
from tukang.assistants import ASSISTANTS
from tukang.chat import Chat
from tukang.cli import document, exits
from tukang.cli.asker import Asker, must_have
from tukang.cli.indonesian import told
from tukang.cli.language import why
from tukang.cli.mcp_client import with_servers
from tukang.cli.progress import progress
from tukang.cli.screen import Screen
from tukang.cli.session_texts import SessionTexts
from tukang.cli.target import Target, open_target
from tukang.cli.texts import Texts
from tukang.cli.turns import follow
from tukang.cli.view import View
from tukang.errors import ConfigurationError, TukangError
from tukang.memory.decisions import APPROVAL
from tukang.memory.stores.base import Store
from tukang.memory.stores.errors import UnknownSessionError
from tukang.memory.stores.values import Kept, OpenTurn
from tukang.runtime.journal import JournalConflictError

_NAME = "chat"
"""Under which name a session keeps whom it is with."""

_STANDING = "standing"
"""Under which name it keeps what was permitted for all of it."""


class With(msgspec.Struct, frozen=True):
    """Whom a session is with: the assistant or `module:name`, and the user who asks."""

    target: str
    user: str | None = None


class Wanted(msgspec.Struct, frozen=True):
    """What the user said about the turns to go on with: `approve` names the tools that may run without being asked about,
    `wait` says to stay until somebody has decided, `mcp` names the files of servers whose tools there are beside the agent's
    own. A session does not keep these: what is started here is said here."""

    agent: str | None = None
    model: str | None = None
    user: str | None = None
    as_json: bool = False
    approve: tuple[str, ...] = ()
    wait: bool = False
    mcp: tuple[str, ...] = ()


async def remember(store: Store, session: str, whom: With) -> None:
    """Keep with a session whom it is with; the session is made where there is none."""
    try:
        await store.session(session)
    except UnknownSessionError:
        await store.release(await store.take(session, f"{socket.gethostname()}:{os.getpid()}", 5.0))
    before = (await store.kept(session)).get(_NAME)
    now = Kept(_NAME, 0, msgspec.to_builtins(whom))
    if before != now:
        with contextlib.suppress(JournalConflictError):  # somebody says the same just now
            await store.keep(session, now, before)


async def _remembered(store: Store, session: str) -> With | None:
    kept = (await store.kept(session)).get(_NAME)
    with contextlib.suppress(msgspec.ValidationError):
        return None if kept is None else msgspec.convert(kept.data, With)
    return None


async def resume(
    store: Store, session: str | None, wanted: Wanted, screen: Screen, texts: Texts, said: SessionTexts
) -> int:
    """Go on with a session's turn, or with every turn that nobody runs and that waits for nothing.

    Returns:
        The code of the last turn that was not answered; `exits.ANSWERED` when there was none.
    """
    if session is not None:
        await store.session(session)  # to say so when there is none
    left = await store.open_turns(session, idle=session is None)
    if not left:
        screen.note((said.nothing_left, "dim"))
    code, documents = exits.ANSWERED, list[str]()
    for turn in left:
        try:
            answer, target = await _go_on(store, turn, wanted, screen, texts, said)
        except TukangError as error:
            screen.still()
            screen.error(texts.error, told(str(error), texts.language))
            code = exits.of_error(error)
            continue
        if answer is None:
            screen.note((texts.interrupted, "yellow"))
            return exits.INTERRUPTED
        code = exits.of_answer(answer) or code
        name = target.agent.model.name
        documents.append(document.of_answer(answer, assistant=target.name, model=name, why=target.why))
    if wanted.as_json:
        screen.whole(documents[0] if session is not None and documents else f"[{','.join(documents)}]")
    return code


async def _go_on(
    store: Store, turn: OpenTurn, wanted: Wanted, screen: Screen, texts: Texts, said: SessionTexts
) -> tuple[Answer | None, Target]:
    whom = await _remembered(store, turn.session)
    name = wanted.agent or (whom.target if whom else turn.agent)
    if ":" not in name and name not in ASSISTANTS:
        raise ConfigurationError(said.which_agent.format(session=turn.session, agent=turn.agent or "?"))
    user = wanted.user or (whom.user if whom else None)
    target = open_target(name, model=wanted.model, user=user, tell=progress(screen, texts))
    target = with_servers(target, wanted.mcp, screen, texts)
    screen.note((said.resuming.format(session=turn.session, turn=turn.number, agent=name), "bold"))
    screen.note((texts.model.format(name=target.agent.model.name, why=why(target.why, texts.language)), "dim"))
    view = View(screen, texts, target.models)
    must_have(target.agent, wanted.approve, name, texts)
    asker = await asker_of(store, turn.session, screen, texts, wanted.approve)
    chat = target.agent.session(turn.session, store=store)
    answer = await going_on(chat, target, view, asker)
    while wanted.wait and answer is not None and answer.stopped == "waiting":
        screen.busy(texts.stopped["waiting"] + " …")
        await until_decided(store, turn.session)
        view = View(screen, texts, target.models, known=len(answer.events))
        answer = await going_on(chat, target, view, asker)
    if answer is not None:
        (view.sum_up if wanted.as_json else view.finish)(answer)
    return answer, target


async def asker_of(store: Store, session: str, screen: Screen, texts: Texts, allowed: Collection[str]) -> Asker | None:
    """Who decides about the calls of a session that is kept: what was permitted for it before holds on. None when there is
    nobody here, and nothing was permitted."""
    before = (await store.kept(session)).get(_STANDING)
    try:
        given = () if before is None else msgspec.convert(before.data, tuple[Standing, ...])
    except msgspec.ValidationError:  # what cannot be read permits nothing
        given = ()

    async def keep(all_of_them: tuple[Standing, ...]) -> None:
        nonlocal before
        now = Kept(_STANDING, 0, msgspec.to_builtins(all_of_them))
        with contextlib.suppress(JournalConflictError):  # somebody else has given one just now: this holds here only
            await store.keep(session, now, before)
            before = now

    asker = Asker(screen, texts, allowed, may_wait=True, given=given, give=keep)
    return asker if asker.decides else None


async def was_decided(store: Store, turn: str) -> bool:
    """Whether a turn that was left waited for somebody, who has decided since."""
    return any(wait.consumed is None for wait in await store.waits(APPROVAL, turn=turn, open_only=False))


async def going_on(chat: Chat, target: Target, view: View, approve: Asker | None) -> Answer | None:
    """Follow a chat's turn that was left; None when Ctrl-C came before it went on.

    Raises:
        NothingToResumeError: there is none any more.
        TukangError: it could not go on.
    """
    return await follow(chat.resume_stream(context=target.context, when_busy="refuse", approve=approve), view.see)
