"""Who invokes a function, from what Amazon says about them in the event: an id, and the scopes they were granted.

What is read here was checked by API Gateway or Lambda before the function ran; nothing that a caller can write themselves
counts. A direct invocation (Bedrock, AgentCore Gateway) says nothing about its caller: IAM has decided who may make it, and
`Grants.direct` says what they may do.

Sources: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html,
https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

import msgspec

from tukang.hosting.events import Event, Invocation
from tukang.loop.permissions import Principal

_SCOPES = ("scope", "scp", "scopes")
"""The claims in which providers say what was granted."""


class Grants(msgspec.Struct, frozen=True):
    """What callers are granted.

    Args:
        by_id: id → scopes beside those that their token says; `*` in an id stands for anything. For IAM, which knows no
            scopes, an id is the caller's ARN: `arn:aws:sts::123456789012:assumed-role/Gudang/*`.
        direct: who a direct invocation is by; None for somebody who was granted nothing.
        trusted: whether scopes that an authorizer says count.
    """

    by_id: Mapping[str, Collection[str]] = {}
    direct: Principal | None = None
    trusted: bool = True

    def principal(self, invocation: Invocation) -> Principal | None:
        """Who invoked, and what they were granted; None for somebody unknown."""
        if invocation.kind in ("rpc", "gateway"):
            return self.direct
        context = _object(invocation.event, "requestContext")
        found = _in_v2(context) if invocation.kind == "http2" else _in_v1(context)
        if found is None:
            return None
        name, scopes = found
        granted = set(scopes) if self.trusted else set[str]()
        for pattern, more in self.by_id.items():
            if _fits(pattern, name):
                granted |= set(more)
        return Principal(name, tuple(granted))


def _in_v2(context: Event) -> tuple[str, tuple[str, ...]] | None:
    """`requestContext` of payload 2.0: `authorizer` is `{"jwt": …}`, `{"iam": …}` or `{"lambda": …}`."""
    authorizer = _object(context, "authorizer")
    if jwt := _object(authorizer, "jwt"):
        claims = _object(jwt, "claims")
        return _named(
            claims, ("sub", "client_id"), _claimed(claims)
        )  # `jwt.scopes` may be the route's, not the token's
    if iam := _object(authorizer, "iam"):
        return _named(iam, ("userArn", "userId"), ())
    own = _object(authorizer, "lambda")
    return _named(own, ("principalId", "sub"), _claimed(own))


def _in_v1(context: Event) -> tuple[str, tuple[str, ...]] | None:
    """`requestContext` of payload 1.0: `authorizer` holds a Cognito authorizer's `claims`, or what a Lambda authorizer said
    beside its `principalId`; IAM stands in `identity`."""
    authorizer = _object(context, "authorizer")
    if claims := _object(authorizer, "claims"):
        return _named(claims, ("sub", "client_id"), _claimed(claims))
    if authorizer.get("principalId"):
        return _named(authorizer, ("principalId",), _claimed(authorizer))
    return _named(_object(context, "identity"), ("userArn",), ())


def _named(said: Event, names: tuple[str, ...], scopes: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    name = next((value for one in names if isinstance(value := said.get(one), str) and value), None)
    return None if name is None else (name, scopes)


def _claimed(claims: Event) -> tuple[str, ...]:
    return tuple(scope for name in _SCOPES for scope in _listed(claims.get(name)))


def _listed(said: object) -> tuple[str, ...]:
    """Scopes, as a list or as one text with blanks between them; HTTP APIs write a list as `[a b]`."""
    if isinstance(said, str):
        return tuple(said.strip("[]").replace(",", " ").split())
    if isinstance(said, list):
        return tuple(one for one in cast("list[Any]", said) if isinstance(one, str))
    return ()


def _object(event: Event, name: str) -> Event:
    value: Any = event.get(name)
    return cast("Event", value) if isinstance(value, Mapping) else {}


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None
