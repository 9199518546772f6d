"""Embedding models on Amazon Bedrock: Titan's and Cohere's, by InvokeModel.

Titan takes one text in a request (`inputText` → `embedding`); Cohere takes up to 96, and wants to be told whether they are
questions or documents (`texts`, `input_type` → `embeddings`).
Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html,
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.aws import Account
from tukang.models.bedrock_errors import EXPIRED, error_type, reported_error
from tukang.models.bedrock_service import path_of
from tukang.models.embeddings.base import Kind
from tukang.models.embeddings.remote import Remote, decoded
from tukang.models.exchange import Address

_COHERE_BATCH = 96
_TITAN_AT_ONCE = 8
_COHERE_LONGEST = 2_048
"""Characters of a text that Cohere's models take; a longer one is refused."""


class _Titan(msgspec.Struct):
    embedding: list[float]


class _ByType(msgspec.Struct, rename={"rows": "float"}):
    rows: list[list[float]]


class _Cohere(msgspec.Struct):
    embeddings: list[list[float]] | _ByType


class BedrockEmbedder(Remote):
    """An embedding model on Bedrock.

    Args:
        model: its id, or an ARN: `amazon.titan-embed-text-v2:0`, `cohere.embed-multilingual-v3`.
        account: who asks, and where; what the environment says if None.

    Raises:
        ConfigurationError: it is of neither family, or botocore is not installed.
    """

    def __init__(self, model: str, *, account: Account | None = None) -> None:
        self._cohere = "cohere." in model
        if not self._cohere and "titan-embed" not in model:
            raise ConfigurationError(
                f"embedder 'bedrock:{model}': known are amazon.titan-embed-… and cohere.embed-…; the others take other bodies"
            )
        super().__init__(
            f"bedrock:{model}", _COHERE_BATCH if self._cohere else 1, 1 if self._cohere else _TITAN_AT_ONCE
        )
        self._model = model
        self._account = account or Account()

    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Address, bytes]:
        if self._cohere:
            purpose = "search_query" if kind == "query" else "search_document"
            short = [text[:_COHERE_LONGEST] for text in texts]
            body = msgspec.json.encode({"texts": short, "input_type": purpose, "truncate": "END"})
        else:
            body = msgspec.json.encode({"inputText": texts[0]})
        try:
            url = await self._account.url(path_of(self._model, "invoke"))
            plain = {"Content-Type": "application/json", "Accept": "application/json"}
            signed = await self._account.headers(url, body, plain)
        except ConfigurationError as fault:
            raise ModelError("configuration", str(fault)) from None
        secrets = (signed["Authorization"].removeprefix("Bearer "), signed.get("X-Amz-Security-Token", ""))
        return Address(url, signed, http.Route(), secrets), body

    def _rows(self, body: bytes) -> list[list[float]]:
        if not self._cohere:
            return [decoded(body, _Titan, self.name).embedding]
        found = decoded(body, _Cohere, self.name).embeddings
        return found.rows if isinstance(found, _ByType) else found

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        kind = error_type(headers, body)
        if kind == EXPIRED:
            self._account.forget()
        return reported_error(kind, body, status=status, model=self._model, retry_after=http.retry_after(headers))
