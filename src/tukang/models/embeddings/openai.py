"""OpenAI's embeddings, and the many servers that speak the same: `POST …/embeddings` with `model` and `input`.

Source: https://platform.openai.com/docs/api-reference/embeddings. A request takes up to 2,048 texts; fewer go here, because a
compatible server may take fewer. Rows carry an `index`, and are put into its order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec
from yarl import URL

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.embeddings.base import Kind
from tukang.models.embeddings.remote import Remote, decoded
from tukang.models.exchange import Address
from tukang.models.openai_chat_decode import read_error
from tukang.models.openai_chat_errors import reported_error
from tukang.models.openai_settings import key_headers

_OFFICIAL = "https://api.openai.com/v1"
_PATH = "/embeddings"
_BATCH = 64


class _Row(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Response(msgspec.Struct):
    data: list[_Row]


class OpenAIEmbedder(Remote):
    """An embedding model behind such a server.

    Args:
        model: its name on the wire.
        base_url: where the server is; `OPENAI_BASE_URL` if None, else OpenAI's own.
        api_key: `OPENAI_API_KEY` if None. A server of one's own may need none.

    Raises:
        ConfigurationError: the base URL is not one, or OpenAI's own server is meant and there is no key.
    """

    def __init__(self, model: str, *, base_url: str | None = None, api_key: str | None = None) -> None:
        super().__init__(f"openai:{model}", _BATCH)
        self._model = model
        url = _endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or _OFFICIAL)
        key, own = key_headers(url, api_key)
        if url.host == "api.openai.com" and not key:
            raise ConfigurationError(
                f"{url.host} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none."
            )
        headers = {"Content-Type": "application/json", **own}
        self._address = Address(url, headers, http.Route(), (key, url.password or ""))

    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Address, bytes]:  # noqa: ARG002
        return self._address, msgspec.json.encode({"model": self._model, "input": texts, "encoding_format": "float"})

    def _rows(self, body: bytes) -> list[list[float]]:
        rows: list[_Row] = decoded(body, _Response, self.name).data
        return [row.embedding for row in sorted(rows, key=lambda row: row.index)]

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        return reported_error(
            read_error(body),
            status=status,
            model=self._model,
            retryable=http.may_retry(headers),
            retry_after=http.retry_after(headers),
        )


def _endpoint(base_url: str) -> URL:
    try:
        url = URL(base_url.strip())
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("the base URL (OPENAI_BASE_URL) is not one: it must look like https://host/v1")
    path = url.path.rstrip("/")
    return url.with_path(path if path.endswith(_PATH) else path + _PATH, keep_query=True)
