"""The judge of what is sent to Amazon Bedrock: botocore, with Amazon's own model of the service.

A body is turned into the parameters a user of boto3 would give (bytes instead of base64), which must pass botocore's
validation, keep to every pattern, bound and enumeration of the model (botocore itself checks only some), and be serialised by
botocore to the same body. What the model cannot say, because only the service refuses it, is in `_against_the_service`.
"""

from __future__ import annotations

import base64
import functools
import json
import re
from itertools import pairwise
from typing import Any

import botocore.loaders
import botocore.model
import botocore.serialize
import botocore.validate

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


@functools.cache
def service() -> Any:
    """Amazon's model of the service."""
    described = botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return botocore.model.ServiceModel(described, "bedrock-runtime")


def complaints(body: bytes, operation: str = "Converse") -> list[str]:
    """What the judge finds wrong with a body; empty where it is accepted."""
    sent = json.loads(body)
    model = service().operation_model(operation)
    shape = model.input_shape
    found: list[str] = []
    parameters = {"modelId": MODEL, **_unwired(sent, shape, "", found)}
    report = botocore.validate.ParamValidator().validate(parameters, shape)
    if report.has_errors():
        found.append(report.generate_report())
    else:
        serializer = botocore.serialize.create_serializer("rest-json", include_validation=False)
        again = json.loads(serializer.serialize_to_request(parameters, model)["body"])
        if again != sent:
            found.append(f"boto3 would send it otherwise: {again}")
    return found + list(_against_the_service(sent))


def _unwired(value: Any, shape: Any, where: str, found: list[str]) -> Any:
    """The value with bytes for base64, while patterns, bounds and enumerations are looked at."""
    if getattr(shape, "is_document_type", False):
        return value
    if shape.type_name == "structure":
        unknown = value.keys() - shape.members.keys()
        found.extend(f"{where}: unknown field {name}" for name in unknown)
        known = {name: inner for name, inner in value.items() if name in shape.members}
        if getattr(shape, "is_tagged_union", False) and len(known) != 1:
            found.append(f"{where}: a union with {list(known)}")
        return {name: _unwired(inner, shape.members[name], f"{where}.{name}", found) for name, inner in known.items()}
    if shape.type_name == "list":
        return [_unwired(inner, shape.member, f"{where}[{place}]", found) for place, inner in enumerate(value)]
    if shape.type_name == "blob":
        return base64.b64decode(value, validate=True)
    bounds = shape.metadata
    if shape.type_name == "string":
        if bounds.get("enum") and value not in bounds["enum"]:
            found.append(f"{where}: {value!r} is none of {bounds['enum']}")
        if bounds.get("pattern") and not re.fullmatch(bounds["pattern"], value):
            found.append(f"{where}: {value!r} does not match {bounds['pattern']}")
        if len(value) > bounds.get("max", len(value)):
            found.append(f"{where}: longer than {bounds['max']}")
    elif shape.type_name in ("integer", "float") and value > bounds.get("max", value):
        found.append(f"{where}: {value} is more than {bounds['max']}")
    return value


def _against_the_service(body: dict[str, Any]) -> list[str]:
    """What only the service refuses (the messages of its refusals are quoted in public reports)."""
    found: list[str] = []
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    if roles[:1] != ["user"] or roles[-1] != "user" or any(a == b for a, b in pairwise(roles)):
        found.append(f"roles: {roles}")
    asked: list[str] = []
    seen: list[str] = []
    documents: list[str] = []
    tools = False
    for place, message in enumerate(messages):
        kinds = [next(iter(block)) for block in message["content"]]
        if not kinds or kinds[-1] == "reasoningContent" or kinds[0] == "cachePoint":
            found.append(f"message {place}: {kinds}")
        for block in message["content"]:
            if "text" in block and not block["text"].strip():
                found.append(f"message {place}: blank text")
            for one in (block, *block.get("toolResult", {}).get("content", ())):
                documents += [one["document"]["name"]] if "document" in one else []
                if "text" in one and not one["text"].strip():
                    found.append(f"message {place}: blank text in a result")
        if "document" in kinds and "text" not in kinds:
            found.append(f"message {place}: a document without text")
        for before, here in pairwise(kinds):
            if here == "cachePoint" and before in ("reasoningContent", "cachePoint"):
                found.append(f"message {place}: a cache point after {before}")
        answered = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
        if message["role"] == "user" and answered != asked:
            found.append(f"message {place}: {asked} answered as {answered}")
        asked = [
            block["toolUse"]["toolUseId"]
            for block in message["content"]
            if "toolUse" in block and block["toolUse"].get("type") != "server_tool_use"
        ]
        tools = tools or bool(asked or answered)
        seen += asked
    if len(documents) != len(set(documents)) or not all(
        re.fullmatch(r"[A-Za-z0-9()\[\]-]+(?: [A-Za-z0-9()\[\]-]+)*", name) for name in documents
    ):
        found.append(f"documents: {documents}")
    if tools and "toolConfig" not in body:
        found.append("tool blocks without a toolConfig")
    if json.dumps(body).count('"cachePoint"') > 4:
        found.append("more than four cache points")
    if any(not block.get("text", "x").strip() for block in body.get("system", ())):
        found.append("a blank system text")
    return found
