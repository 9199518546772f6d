"""Ollama's embeddings: `POST /api/embed` with `model` and `input`. Source: https://docs.ollama.com/api/embed.

A text that is longer than the model's context is cut by the server. Models of the family `nomic-embed-text` want to be told
whether a text is a question or a document, by a prefix (https://ollama.com/library/nomic-embed-text).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from tukang.errors import ConfigurationError, ModelError
from tukang.models import http
from tukang.models.embeddings.base import Kind
from tukang.models.embeddings.remote import Remote, decoded
from tukang.models.exchange import Address, checked_key
from tukang.models.ollama import base_url
from tukang.models.ollama_decode import read_error
from tukang.models.ollama_errors import reported_error

_BATCH = 32
_PREFIXES: Mapping[str, Mapping[Kind, str]] = {
    "nomic-embed-text": {"query": "search_query: ", "passage": "search_document: "}
}


class _Response(msgspec.Struct):
    embeddings: list[list[float]]


class OllamaEmbedder(Remote):
    """An embedding model behind an Ollama server.

    Args:
        model: its name on the server.
        host: where the server is, as `OLLAMA_HOST` says it; `OLLAMA_HOST` if None, else this machine.
        api_key: `OLLAMA_API_KEY` if None. A server of one's own needs none.

    Raises:
        ConfigurationError: no model is named, or the host is not one.
    """

    def __init__(self, model: str, *, host: str | None = None, api_key: str | None = None) -> None:
        if not model:
            raise ConfigurationError("the embedder 'ollama:' has no model: name one, as in 'ollama:nomic-embed-text'")
        super().__init__(f"ollama:{model}", _BATCH)
        self._model = model
        url = base_url(os.environ.get("OLLAMA_HOST", "") if host is None else host)
        key = checked_key(os.environ.get("OLLAMA_API_KEY", "") if api_key is None else api_key, "OLLAMA_API_KEY")
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._address = Address(url / "api" / "embed", headers, http.Route(), (key, url.password or ""))
        family = model.partition(":")[0].rpartition("/")[2]
        self._prefixes = _PREFIXES.get(family, {})

    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Address, bytes]:
        prefix = self._prefixes.get(kind, "")
        return self._address, msgspec.json.encode({"model": self._model, "input": [prefix + text for text in texts]})

    def _rows(self, body: bytes) -> list[list[float]]:
        return decoded(body, _Response, self.name).embeddings

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        return reported_error(read_error(body), status=status, model=self._model, retry_after=http.retry_after(headers))
