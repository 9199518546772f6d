"""Tools that a model's provider runs itself: declared beside ours, in no provider's words. Values; nothing runs or sends.

`hosted.web_search()` stands in a toolbox like any tool: it has a name, a policy, and scopes that a caller needs. It has no
function: the provider runs it, inside its reply. Which fields that takes on which wire is the adapter's business, and an
adapter that has none says so when the agent is built. What only one provider has is given under that provider's name
(`openai={"search_context_size": "high"}`), and is sent to no other.

Only remote MCP servers can be asked about (`approval`), because only there a provider asks before it calls. `effect` counts
for all: a request that may have had a tool run which changes something is not repeated after a broken connection.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, Unpack, cast

import msgspec
from typing_extensions import TypedDict

from tukang.errors import ToolDefinitionError
from tukang.tools.contract import LEGAL_NAME
from tukang.tools.policy import Policy, PolicyOptions, Predicate, ToolEffect, policy_of

Kind = Literal["web_search", "web_fetch", "file_search", "code", "image_generation", "mcp", "aws"]
Family = Literal["openai", "anthropic", "gemini", "bedrock"]

FAMILIES: tuple[Family, ...] = ("openai", "anthropic", "gemini", "bedrock")
_SECRET = ("token", "headers")
_SHORTEST = 4
"""Characters that a token or a header's value has, to be looked for in what others say: a shorter one stands everywhere."""
_ARN = re.compile(
    r"arn:aws[a-z-]*:(?:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+(?::[\w$-]+)?"
    r"|bedrock-agentcore:[a-z0-9-]+:\d{12}:gateway/[\w-]+)"
)


class Hosted(msgspec.Struct, frozen=True):
    """One tool, or one server's tools, that the provider runs. Made by the functions of this file.

    Args:
        kind: what it is.
        name: as it stands in steps, rules and policies; for a server its label.
        policy: what running it does (`effect`), whether its results come from outside (`untrusted`), which scopes a caller
            needs, and whether a call needs permission.
        options: what was said in neutral words; only what was said.
        own: provider → fields of its own.
        approval: says whether a call needs permission, where the policy leaves that to a function.
        asks: whether the provider is to ask before each call: because of the policy, or of the agent's rules.
    """

    kind: Kind
    name: str
    policy: Policy
    options: Mapping[str, Any] = {}
    own: Mapping[str, Mapping[str, Any]] = {}
    approval: Predicate | None = None
    asks: bool = False

    @property
    def shown(self) -> dict[str, Any]:
        """What of it may be shown and written down: no token, and no header."""
        said = {name: value for name, value in self.options.items() if name not in _SECRET}
        if "url" in said:  # a user before the host and a query behind it often are what opens a server
            said["url"] = re.sub(r"(?<=://)[^/?#]*@|[?#].*", "", said["url"])
        return {"kind": self.kind, "name": self.name, "options": said}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What of it must stand in requests only."""
        token, headers = self.options.get("token"), self.options.get("headers", {})
        return tuple(one for one in (token, *headers.values()) if one and len(one) >= _SHORTEST)

    def __repr__(self) -> str:
        return f"hosted.{self.kind}({self.name!r})"


class Common(TypedDict, total=False):
    """What every hosted tool takes: the scopes a caller needs, and fields of single providers."""

    needs: str | Collection[str]
    openai: Mapping[str, Any]
    anthropic: Mapping[str, Any]
    gemini: Mapping[str, Any]
    bedrock: Mapping[str, Any]


def web_search(
    *,
    domains: Collection[str] = (),
    blocked: Collection[str] = (),
    near: Mapping[str, str] | None = None,
    most: int | None = None,
    **common: Unpack[Common],
) -> Hosted:
    """Search the web.

    Args:
        domains: only pages of these.
        blocked: no pages of these.
        near: where the user is: any of `city`, `region`, `country` (two letters) and `timezone` (`Asia/Jakarta`).
        most: searches in one request.
        common: see `Common`.

    Raises:
        ToolDefinitionError: the values contradict each other, or are not possible ones.
    """
    if domains and blocked:
        raise ToolDefinitionError("hosted.web_search: say domains or blocked, not both")
    known = {"city", "region", "country", "timezone"}
    if near is not None and (not near or set(near) - known):
        raise ToolDefinitionError(f"hosted.web_search: near takes {', '.join(sorted(known))}, not {dict(near)!r}")
    options = {"domains": _texts("domains", domains), "blocked": _texts("blocked", blocked), "near": near, "most": most}
    return _made("web_search", "web_search", options, {"effect": "read", "untrusted": True}, common)


def web_fetch(
    *,
    domains: Collection[str] = (),
    blocked: Collection[str] = (),
    most: int | None = None,
    **common: Unpack[Common],
) -> Hosted:
    """Read a page whose address is known. Arguments and errors as for `web_search`."""
    if domains and blocked:
        raise ToolDefinitionError("hosted.web_fetch: say domains or blocked, not both")
    options = {"domains": _texts("domains", domains), "blocked": _texts("blocked", blocked), "most": most}
    return _made("web_fetch", "web_fetch", options, {"effect": "read", "untrusted": True}, common)


def file_search(stores: Collection[str], *, results: int | None = None, **common: Unpack[Common]) -> Hosted:
    """Search documents that were given to the provider before.

    Args:
        stores: the ids (Gemini: names) of its stores.
        results: how many passages it gets at most.
        common: see `Common`.

    Raises:
        ToolDefinitionError: no store is named.
    """
    if not stores:
        raise ToolDefinitionError("hosted.file_search: name at least one store")
    options = {"stores": _texts("stores", stores), "results": results}
    return _made("file_search", "file_search", options, {"effect": "read"}, common)


def code(*, files: Collection[str] = (), **common: Unpack[Common]) -> Hosted:
    """Run code in a container of the provider's.

    Args:
        files: ids of files that are to be there.
        common: see `Common`.
    """
    return _made("code", "code", {"files": _texts("files", files)}, {"effect": "read"}, common)


def image_generation(**common: Unpack[Common]) -> Hosted:
    """Draw a picture; it stands in the reply as an `Image`. See `Common`."""
    return _made("image_generation", "image_generation", {}, {"effect": "read"}, common)


def mcp(
    name: str,
    *,
    url: str | None = None,
    connector: str | None = None,
    tools: Collection[str] = (),
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    description: str = "",
    effect: ToolEffect = "unknown",
    approval: Literal["ask", "never"] | Predicate | None = None,
    untrusted: bool = True,
    **common: Unpack[Common],
) -> Hosted:
    """The tools of an MCP server that the provider connects to.

    Args:
        name: the server's label; a step is called `name.tool`.
        url: where the server is (`https://…`).
        connector: a connector of the provider's own, instead of an address (OpenAI).
        tools: which of its tools are on offer; all of them when none is named.
        token: an access token for the server. It stands in requests and nowhere else.
        headers: more headers for the server; as `token`.
        description: what the model is told of it.
        effect: what its tools do to the world.
        approval: `"ask"`, `"never"`, or a function of `{"tool": …, "arguments": …}` and a `CallContext`. When nothing is
            said, every call is asked about, unless the effect is `read`.
        untrusted: whether its results count as coming from outside.
        common: see `Common`.

    Raises:
        ToolDefinitionError: the label, the address or the policy is not a possible one.
    """
    label = f"hosted.mcp({name!r})"
    if (url is None) == (connector is None):
        raise ToolDefinitionError(f"{label}: say url, or connector, and not both")
    if url is not None and not re.match(r"https?://[^\s/]+", url):
        raise ToolDefinitionError(f"{label}: the url must look like https://host/path, not {url!r}")
    options = {
        "url": url,
        "connector": connector,
        "tools": _texts("tools", tools),
        "token": token,
        "headers": headers,
        "description": description,
    }
    wanted = approval or ("never" if effect == "read" else "ask")
    policy: PolicyOptions = {"effect": effect, "approval": wanted, "untrusted": untrusted}
    return _made("mcp", name, options, policy, common)


def aws(
    name: str,
    arn: str,
    *,
    description: str = "",
    effect: ToolEffect = "unknown",
    untrusted: bool = False,
    **common: Unpack[Common],
) -> Hosted:
    """A Lambda function that speaks MCP, or an AgentCore Gateway, that Amazon Bedrock calls (Responses API).

    Bedrock calls it without asking, under the caller's own IAM permissions: those decide, and nobody is asked here.

    Args:
        name: its label; a step is called `name.tool`.
        arn: of the function or the gateway.
        description: what the model is told of it.
        effect: what its tools do to the world.
        untrusted: whether its results count as coming from outside.
        common: see `Common`.

    Raises:
        ToolDefinitionError: the label or the ARN is not a possible one.
    """
    if not _ARN.fullmatch(arn):
        raise ToolDefinitionError(
            f"hosted.aws({name!r}): {arn!r} is the ARN of neither a Lambda function "
            "(arn:aws:lambda:REGION:ACCOUNT:function:NAME) nor an AgentCore Gateway "
            "(arn:aws:bedrock-agentcore:REGION:ACCOUNT:gateway/ID)"
        )
    options = {"arn": arn, "description": description}
    return _made("aws", name, options, {"effect": effect, "approval": "never", "untrusted": untrusted}, common)


def _made(kind: Kind, name: str, options: Mapping[str, Any], policy: PolicyOptions, common: Common) -> Hosted:
    label = f"hosted.{kind}({name!r})"
    if not LEGAL_NAME.fullmatch(name):
        raise ToolDefinitionError(f"{label}: a name has letters, digits, '_' and '-', at most 64, not a digit first")
    if unknown := set(common) - {"needs", *FAMILIES}:
        raise ToolDefinitionError(
            f"{label}: there is no {', '.join(sorted(unknown))}; providers are {', '.join(FAMILIES)}"
        )
    most = options.get("most", options.get("results"))
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise ToolDefinitionError(f"{label}: how many must be a whole number above 0, not {most!r}")
    approval = policy.get("approval")
    try:
        made = policy_of({**policy, "needs": common.get("needs", ())})
    except ValueError as error:
        raise ToolDefinitionError(f"{label}: {error}") from error
    said = {key: value for key, value in options.items() if value}
    given = cast("Mapping[str, Mapping[str, Any]]", common)
    own = {family: dict(given[family]) for family in FAMILIES if given.get(family)}
    return Hosted(kind, name, made, said, own, approval if callable(approval) else None, made.approving != "never")


def _texts(what: str, given: Collection[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(one, str) and one for one in cast("Collection[object]", given)):
        raise ToolDefinitionError(f"hosted: {what} is several texts, such as [{'example.com'!r}], not {given!r}")
    return tuple(given)


__all__ = [
    "Common",
    "Family",
    "Hosted",
    "Kind",
    "aws",
    "code",
    "file_search",
    "image_generation",
    "mcp",
    "web_fetch",
    "web_search",
]
