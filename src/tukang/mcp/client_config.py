"""Which servers there are, how to reach them and how far to trust them: values, and the `mcpServers` file they come from.

Reads and checks; connects to nothing. What stands in `env`, `headers` and an address may be a secret, so none of it is shown
when one of these is printed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

import msgspec

from tukang.errors import ConfigurationError
from tukang.secrets import secrets_in
from tukang.tools.names import nearest
from tukang.tools.policy import PolicyOptions, policy_of

Trust = Literal["nothing", "hints", "all"]
"""How far a server's word about its own tools counts.

* `nothing` (the default): each call asks somebody, and what a tool does is unknown, or a write where the server says so:
  hints can only make it stricter.
* `hints`: what the server says of its tools is believed. What it calls read-only runs as a read, without asking; the rest as
  a write that asks.
* `all`: believed, and nothing asks.
"""

_TRUST = ("nothing", "hints", "all")
_OURS = "tukang"
_SHORTEST = 8
"""Characters a text must have to be taken for a secret: a shorter one stands in too many innocent texts."""
_COMMON = frozenset({"command", "args", "env", "cwd", "url", "headers", "type", "transport", "disabled", _OURS})
_KINDS = {
    "stdio": "command",
    "http": "url",
    "streamable-http": "url",
    "streamableHttp": "url",
    "streamable_http": "url",
}
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """One server. Either `command` (it is started here, and spoken to over its standard input and output) or `url`
    (streamable HTTP).

    Args:
        name: yours for it; its tools are called `name_tool`.
        command, args, env, cwd: what is started, and where. `env` is added to PATH, HOME and the like; nothing else of this
            program's environment reaches it.
        url, headers: where it is, and what is sent with each request.
        auth: an `httpx2.Auth` for its requests; see `tukang.mcp.oauth`.
        oauth: a file for its tokens: a person is asked to sign in in a browser, and what is granted is kept there.
        trust: see `Trust`.
        policies: original tool name → policy in the words of `@tool`: your own word, which counts more than any hint.
        only: original names (or patterns such as `read_*`) of the tools to take; None for all.
        without: those to leave out.
        prefix: what its tools' names begin with, instead of `name`; "" for nothing.
        timeout: seconds one call may take.
        patience: seconds until connecting is given up.
        optional: when it cannot be reached, go on without its tools, with a warning; otherwise building an agent fails.
        resources: offer the model two more tools, that list and read the server's resources.

    Raises:
        ConfigurationError: it has neither a command nor an address, or both; or a value is not a possible one.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    auth: Any = None
    oauth: str | None = None
    trust: Trust = "nothing"
    policies: Mapping[str, Mapping[str, Any]] = {}
    only: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    prefix: str | None = None
    timeout: float = 60.0
    patience: float = 30.0
    optional: bool = False
    resources: bool = False

    def __post_init__(self) -> None:
        label = f"MCP server {self.name!r}"
        if not self.name.strip():
            raise ConfigurationError("an MCP server needs a name: what its tools' names begin with")
        if (self.command is None) == (self.url is None):
            raise ConfigurationError(f"{label}: give a command (to start it) or a url (to reach it), one of the two")
        if self.url is not None and not re.match(r"https?://\S", self.url):
            raise ConfigurationError(f"{label}: its url must begin with http:// or https://")
        if self.url is None and (self.headers or self.auth or self.oauth):
            raise ConfigurationError(f"{label}: headers, auth and oauth are for a server with a url")
        _must_be_trust(self.trust, label)
        for word, seconds in (("timeout", self.timeout), ("patience", self.patience)):
            if isinstance(seconds, bool) or not seconds > 0:
                raise ConfigurationError(f"{label}: {word} must be a number of seconds more than 0, not {seconds!r}")
        for tool, options in self.policies.items():
            try:
                policy_of(cast("PolicyOptions", options))
            except (ValueError, TypeError) as error:
                raise ConfigurationError(f"{label}: the policy for {tool!r} is not possible: {error}") from None

    @property
    def secrets(self) -> frozenset[str]:
        """Texts that must not stand in any message: what the headers and the address hold, and what stands in the environment
        or behind an option under a name that says so."""
        words = {word for value in self.headers.values() for word in (value, *value.split())}
        words |= {pair.partition("=")[2] for pair in (self.url or "").partition("?")[2].split("&")}
        words |= _user_in(self.url or "")
        given = secrets_in(self.env).union(*(secrets_in({name: value}) for name, value in _options(self.args)))
        return given | {word for word in words if len(word) >= _SHORTEST}

    @property
    def where(self) -> str:
        """What it is, for a message: its command, or its address without what may be secret."""
        if self.command is not None:
            return self.command
        return re.sub(r"(?<=://)[^/@]*@", "", (self.url or "").partition("?")[0])

    def __repr__(self) -> str:
        return f"McpServer({self.name!r}, {self.where!r}, trust={self.trust!r})"


def _options(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is given as `--name=value` or `--name value`, or as a header (`Authorization: Bearer …`) behind an option."""
    for arg, behind in zip(args, [*args, ""][1:], strict=True):
        if not arg.startswith("-"):
            continue
        name, given, value = arg.partition("=")
        value = value if given else behind
        yield name.strip("-").replace("-", "_"), value
        header, colon, words = value.partition(":")
        if colon:
            kind = "token" if header.strip().lower() == "authorization" else header.strip().replace("-", "_")
            yield from ((kind, word) for word in (words.strip(), *words.split()))


def _user_in(url: str) -> set[str]:
    """Who signs in by an address, and their password."""
    whole, at, _ = urlsplit(url).netloc.rpartition("@")
    words = whole.split(":") if at else []
    return {*words, *map(unquote, words)}


def read_servers(path: str | Path, environment: Mapping[str, str] | None = None) -> tuple[McpServer, ...]:
    """The servers of a file in the common form; see `servers_of`.

    Raises:
        ConfigurationError: it cannot be read, or something in it is wrong.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not UTF-8 text") from error
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from None
    except RecursionError as error:
        raise ConfigurationError(f"{path} is nested deeper than a list of servers is") from error
    return servers_of(value, str(path), environment)


def servers_of(value: Any, label: str, environment: Mapping[str, str] | None = None) -> tuple[McpServer, ...]:
    """The servers that a value in the common form describes: `{"mcpServers": {name: {…}}}` (or `servers`).

    Each has `command`, `args`, `env`, `cwd`, or `url`, `headers`; what tukang alone knows (`trust`, `timeout`, …; see
    `McpServer`) stands under `tukang`. `${VAR}`, `${env:VAR}` and `${VAR:-otherwise}` in any of these texts are filled in
    from the environment. Members that other programs put there are left alone; a server that is `disabled` is left out.

    Args:
        value: what the file holds.
        label: what it is called in a message.
        environment: where variables are looked up; this program's by default.

    Raises:
        ConfigurationError: something in it is wrong; the message says what and where. It holds no value of a variable.
    """
    top = _mapping(value, label)
    described = top.get("mcpServers", top.get("servers"))
    if described is None:
        raise ConfigurationError(
            f'{label} has no "mcpServers": expected {{"mcpServers": {{"name": {{"command": …}}}}}}'
        )
    known = os.environ if environment is None else environment
    servers = [
        _server(name, _mapping(one, f"{label}: server {name!r}"), f"{label}: server {name!r}", known)
        for name, one in _mapping(described, f'{label}: "mcpServers"').items()
    ]
    return tuple(server for server in servers if server is not None)


def _server(name: str, given: Mapping[str, Any], label: str, known: Mapping[str, str]) -> McpServer | None:
    if given.get("disabled") is True:
        return None
    kind = given.get("type") or given.get("transport")
    if isinstance(kind, str) and kind not in _KINDS:
        raise ConfigurationError(f"{label}: {kind!r} is not spoken here: expected stdio or http (streamable HTTP)")
    for word in given:  # a word of ours in the wrong place would be taken for another program's, and not be obeyed
        if word not in _COMMON and word in _OWN_WORDS:
            raise ConfigurationError(f'{label}: {word!r} stands under "{_OURS}": {{"{_OURS}": {{"{word}": …}}}}')
    own = _own(given.get(_OURS, {}), label)
    filled = {word: _filled(given[word], f"{label}: {word}", known) for word in _TEXTS if given.get(word) is not None}
    try:
        return msgspec.convert({"name": name, **filled, **own}, McpServer)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{label}: {error}") from None


_TEXTS = ("command", "args", "env", "cwd", "url", "headers")
_OWN_WORDS = frozenset(McpServer.__struct_fields__) - {"name", "auth", *_TEXTS}


def _own(value: Any, label: str) -> Mapping[str, Any]:
    own = _mapping(value, f'{label}: "{_OURS}"')
    for word in own:
        if word not in _OWN_WORDS:
            close = nearest(word, _OWN_WORDS, most=1)
            meant = f"; did you mean {close[0]!r}?" if close else f": {', '.join(sorted(_OWN_WORDS))} are known"
            raise ConfigurationError(f'{label}: "{_OURS}" has no {word!r}{meant}')
    _must_be_trust(own.get("trust", "nothing"), label)
    return own


def _must_be_trust(value: object, label: str) -> None:
    if value not in _TRUST:
        raise ConfigurationError(f"{label}: trust must be 'nothing', 'hints' or 'all', not {value!r}")


def _filled(value: Any, label: str, known: Mapping[str, str]) -> Any:
    """A text, or texts, with their variables filled in."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _looked_up(found, label, known), value)
    if isinstance(value, Mapping):
        texts = cast("Mapping[str, Any]", value)
        return {key: _filled(one, f"{label} {key!r}", known) for key, one in texts.items()}
    if isinstance(value, Sequence):
        return [_filled(one, label, known) for one in cast("Sequence[Any]", value)]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)  # `"PORT": 3000` is common, and means the text
    raise ConfigurationError(f"{label} must be a text")


def _looked_up(found: re.Match[str], label: str, known: Mapping[str, str]) -> str:
    value = known.get(found[1])
    if found[2] is not None:
        return value or found[2]
    if value is None:
        raise ConfigurationError(
            f"{label} needs the variable {found[1]}, which is not set: set it, or say ${{{found[1]}:-otherwise}}"
        )
    return value


def _mapping(value: Any, label: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{label} must be a JSON object, not {type(value).__name__}")
    return cast("Mapping[str, Any]", value)


def must_be_distinct(servers: Collection[McpServer]) -> None:
    """Hold servers against each other.

    Raises:
        ConfigurationError: two have the same name.
    """
    seen: set[str] = set()
    for server in servers:
        if server.name in seen:
            raise ConfigurationError(f"two MCP servers have the name {server.name!r}: rename one")
        seen.add(server.name)
