"""Amazon's side of a request, through botocore: who asks, where, the signature, and the frames of an event stream.

This file knows nothing of models. botocore is an extra (`pip install 'tukang[aws]'`) and is imported where it is first
needed, in a thread: importing it, reading configuration files and asking a machine for its role all block. What is sent and
received goes over our own HTTP session.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html (bearer tokens),
https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html (the order of credentials; botocore follows it),
https://smithy.io/2.0/aws/amazon-eventstream.html (frames).
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import struct
from collections.abc import Mapping
from typing import Any

import msgspec
from yarl import URL

from tukang.errors import ConfigurationError

_SUFFIXES: tuple[tuple[str, str], ...] = (("cn-", "amazonaws.com.cn"), ("eusc-", "amazonaws.eu"), ("", "amazonaws.com"))
_WHO = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role gives credentials."
_SLICE = 65536


class Service(msgspec.Struct, frozen=True):
    """One of Amazon's services.

    Args:
        name: for people.
        signing: as a signature names it.
        host: the first part of its address.
        variable: what follows `AWS_ENDPOINT_URL_` in the name of the variable that holds another address.
        token: the variable of a bearer token, where the service takes one instead of a signature.
        extra: what to install for it.
    """

    name: str
    signing: str
    host: str
    variable: str
    token: str | None = None
    extra: str = "aws"


BEDROCK = Service(
    "Amazon Bedrock", "bedrock", "bedrock-runtime", "BEDROCK_RUNTIME", "AWS_BEARER_TOKEN_BEDROCK", "bedrock"
)


def require_botocore(service: Service = BEDROCK) -> None:
    """Refuse early what cannot work later.

    Raises:
        ConfigurationError: botocore is not installed.
    """
    if importlib.util.find_spec("botocore") is None:
        raise ConfigurationError(f"{service.name} needs botocore: pip install 'tukang[{service.extra}]'")


def _botocore(module: str) -> Any:
    return importlib.import_module(f"botocore.{module}")


class Access(msgspec.Struct, frozen=True):
    """Where to ask, and as whom: a token, or credentials that botocore refreshes."""

    base: URL
    region: str
    token: str | None
    credentials: Any


class Account:
    """Who asks a service, and where it is.

    Args:
        service: which; Bedrock unless it is said.
        region: such as `ap-southeast-1`. `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile's if None.
        profile: a profile of the shared configuration files; botocore reads `AWS_PROFILE` if None.
        token: a Bedrock API key, sent as a bearer token; `AWS_BEARER_TOKEN_BEDROCK` if None. Where there is one, nothing is
            signed and no other credentials are looked for, unless a profile is named. For other services there is none.
        base_url: where the service is; `AWS_ENDPOINT_URL_BEDROCK_RUNTIME` (or the service's own of these) or
            `AWS_ENDPOINT_URL` if None, else the region's.
    """

    def __init__(
        self,
        service: Service = BEDROCK,
        *,
        region: str | None = None,
        profile: str | None = None,
        token: str | None = None,
        base_url: str | None = None,
    ) -> None:
        require_botocore(service)
        environment = os.environ
        self._service = service
        self._region = region or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        self._profile = profile
        self._token = token or (None if profile or not service.token else environment.get(service.token))
        self._base_url = (
            base_url or environment.get(f"AWS_ENDPOINT_URL_{service.variable}") or environment.get("AWS_ENDPOINT_URL")
        )
        self._access: Access | None = None

    async def url(self, path: str) -> URL:
        """The address of an operation.

        Args:
            path: from the host on, percent-encoded as it goes over the wire.

        Raises:
            ConfigurationError: no region is known, or the base URL is not one.
        """
        access = await self.open()
        return URL(str(access.base).rstrip("/") + path, encoded=True)

    async def headers(self, url: URL, body: bytes, headers: Mapping[str, str]) -> dict[str, str]:
        """All headers of one POST: those given, and the token or the signature (version 4).

        Raises:
            ConfigurationError: there are no credentials, or they cannot be renewed.
        """
        access = await self.open()
        if access.token is not None:
            return {**headers, "Authorization": f"Bearer {access.token}"}
        credentials = access.credentials
        # Only credentials of a role are ever renewed, and only that takes time.
        if getattr(credentials, "refresh_needed", bool)():
            frozen = await asyncio.to_thread(_frozen, credentials, self._service)
        else:
            frozen = _frozen(credentials, self._service)
        request = _botocore("awsrequest").AWSRequest(method="POST", url=str(url), data=body, headers=dict(headers))
        _botocore("auth").SigV4Auth(frozen, self._service.signing, access.region).add_auth(request)
        return dict(request.headers.items())

    def forget(self) -> None:
        """Look for credentials anew before the next request: the ones at hand were refused as expired."""
        self._access = None

    async def open(self) -> Access:
        """Find region and credentials, once; see `url` and `headers` for what is raised."""
        access = self._access
        if access is None:
            self._access = access = await asyncio.to_thread(self._open)
        return access

    def _open(self) -> Access:
        _botocore("eventstream")
        session: Any = None
        region, token = self._region, self._token
        if region is None or token is None:
            session = _session(self._profile)
            region = region or session.get_config_variable("region")
        if not region:
            raise ConfigurationError(
                f"{self._service.name} needs a region: set AWS_REGION, for example ap-southeast-1."
            )
        credentials: Any = None
        if token is None:
            _botocore("auth")
            credentials = session.get_credentials()
            if credentials is None:
                raise ConfigurationError(f"No AWS credentials were found. {_who(self._service)}")
            _frozen(credentials, self._service)
        elif not (token.isascii() and token.isprintable()):
            raise ConfigurationError("AWS_BEARER_TOKEN_BEDROCK has characters in it that no token has; copy it again.")
        return Access(_base(self._base_url, region, self._service), region, token, credentials)


def _session(profile: str | None) -> Any:
    try:
        session = _botocore("session").Session(profile=profile)
        session.get_scoped_config()  # a profile that does not exist shows here
    except _botocore("exceptions").BotoCoreError as fault:
        raise ConfigurationError(f"The AWS configuration cannot be used: {fault}") from None
    return session


def _who(service: Service) -> str:
    return f"Set {service.token}, or {_WHO}" if service.token else f"Set {_WHO}"


def _frozen(credentials: Any, service: Service) -> Any:
    try:
        return credentials.get_frozen_credentials()
    except _botocore("exceptions").BotoCoreError as fault:
        raise ConfigurationError(
            f"The AWS credentials cannot be renewed: {type(fault).__name__}. {_who(service)}"
        ) from None


def _base(base_url: str | None, region: str, service: Service) -> URL:
    if base_url is None:
        suffix = next(suffix for prefix, suffix in _SUFFIXES if region.startswith(prefix))
        return URL(f"https://{service.host}.{region}.{suffix}")
    try:
        url = URL(base_url.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(
            f"the address of {service.name} (AWS_ENDPOINT_URL_{service.variable}) is not one: it must look like https://host"
        )
    return url.with_query(None)


# ── event-stream frames ──────────────────────────────────────────────────────────────────────────────────────────────


class Frame(msgspec.Struct, frozen=True):
    """One message of an event stream.

    Args:
        kind: the event's type; for a failure, the exception's type or the error's code.
        payload: its bytes; for an error that has none, its message.
        failed: whether it reports a failure instead of an event.
    """

    kind: str
    payload: bytes
    failed: bool = False


class BrokenFrame(Exception):
    """The bytes are not frames, or a checksum does not match."""


class FrameDecoder:
    """Turns bytes that are cut anywhere into frames. botocore must have been imported (`Account` does it)."""

    def __init__(self) -> None:
        module = _botocore("eventstream")
        self._buffer: Any = module.EventStreamBuffer()
        self._faults: tuple[type[Exception], ...] = (module.ParserError, struct.error, KeyError, ValueError)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take in more bytes; the frames that became complete.

        Raises:
            BrokenFrame: nothing that follows can be read.
        """
        frames: list[Frame] = []
        try:
            # botocore copies what it still holds with each message: small pieces keep that cheap.
            for start in range(0, len(chunk), _SLICE):
                self._buffer.add_data(chunk[start : start + _SLICE])
                frames += [_frame(message.headers, message.payload) for message in self._buffer]
        except self._faults as fault:
            raise BrokenFrame(type(fault).__name__) from None
        return frames


def _frame(headers: Mapping[str, Any], payload: bytes) -> Frame:
    match headers.get(":message-type"):
        case "exception":
            return Frame(str(headers.get(":exception-type", "")), payload, failed=True)
        case "error":
            words = payload or str(headers.get(":error-message", "")).encode()
            return Frame(str(headers.get(":error-code", "")), words, failed=True)
        case _:
            return Frame(str(headers.get(":event-type", "")), payload)
