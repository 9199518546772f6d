"""An image or a file as a content block of Amazon Bedrock's Converse API.

Pure. What Bedrock has no place for is put into words: text files as their text, everything else by its name.
Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html and `API_runtime_ImageBlock`
"""

from __future__ import annotations

import base64
import re
from typing import Any

from tukang.conversation import File, Image
from tukang.models.bedrock_dialect import Dialect

_IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_TEXTUAL = re.compile(r"text/|application/(?:[a-z.+-]*\+)?(?:json|xml|yaml|x-yaml|javascript|toml)$")
_S3 = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](?:/.*)?")


def media_block(part: Image | File, dialect: Dialect, taken: set[str]) -> dict[str, Any]:
    """The block, with one key: `image`, `document` or `text`.

    Args:
        part: what to write.
        dialect: what the model takes.
        taken: names of documents that are in use in this request; the name given here is added.
    """
    kind = part.media_type.split(";")[0].strip().lower()
    source: dict[str, Any] | None = None
    if part.data:
        source = {"bytes": base64.b64encode(part.data).decode()}
    elif part.url and dialect.s3 and len(part.url) <= 1024 and _S3.fullmatch(part.url):
        source = {"s3Location": {"uri": part.url}}
    if source is not None and kind in _IMAGES:
        return {"image": {"format": _IMAGES[kind], "source": source}}
    name = (part.name if isinstance(part, File) else None) or ""
    if source is not None and kind in _DOCUMENTS:
        return {"document": {"format": _DOCUMENTS[kind], "name": _name(name, taken), "source": source}}
    if part.data and _TEXTUAL.match(kind):
        return {"text": f"{name or 'document'}:\n{part.data.decode('utf-8', 'replace')}"}
    what = "image" if isinstance(part, Image) else "document"
    where = part.url or f"of type {part.media_type}, which cannot be shown here"
    return {"text": f"({what} {name}: {where})" if name else f"({what}: {where})"}


def _name(name: str, taken: set[str]) -> str:
    """A name in the letters Bedrock takes (letters, digits, single blanks, `-`, `()`, `[]`), used once in a request."""
    stem = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", name)
    plain = re.sub(r"\s+", " ", re.sub(r"[^A-Za-z0-9\s()\[\]-]", "-", stem)).strip()[:180] or "document"
    number, unique = 1, plain
    while unique in taken:
        number += 1
        unique = f"{plain} ({number})"
    taken.add(unique)
    return unique
