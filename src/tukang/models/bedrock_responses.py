"""OpenAI's Responses protocol on Amazon Bedrock (`bedrock-responses:openai.gpt-oss-120b`), where Bedrock runs tools itself.

The protocol is `openai_responses`; here stand its address, its key, and which tools are run. It is the endpoint called
bedrock-mantle: the one on bedrock-runtime speaks the protocol too, and runs no tools. Requests carry a Bedrock API key as a
bearer token; credentials that would have to sign them are not used.

* `hosted.aws(name, arn)` is a Lambda function that speaks MCP, or an AgentCore Gateway. Bedrock lists its tools and calls
  them under the caller's IAM permissions, without asking.
* gpt-oss has two tools, `notes` and `tasks`, that are always there; what it does with them are steps of the turn.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-server-side.html,
https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html
"""

from __future__ import annotations

import os

from yarl import URL

from tukang.errors import ConfigurationError
from tukang.models.openai_responses import OpenAIResponses
from tukang.models.openai_responses_dialect import bedrock_dialect

TOKEN = "AWS_BEARER_TOKEN_BEDROCK"
ADDRESS = "AWS_ENDPOINT_URL_BEDROCK_MANTLE"


def bedrock_responses(model: str, *, region: str | None = None, base_url: str | None = None) -> OpenAIResponses:
    """A model behind Bedrock's Responses endpoint.

    Args:
        model: its id there, such as `openai.gpt-oss-120b`.
        region: `AWS_REGION` or `AWS_DEFAULT_REGION` if None.
        base_url: where it is, up to and without `/responses`; `AWS_ENDPOINT_URL_BEDROCK_MANTLE` if None, else the region's.

    Raises:
        ConfigurationError: no model, region or key is there.
    """
    name = f"bedrock-responses:{model}"
    if not model:
        raise ConfigurationError("model 'bedrock-responses:': name a model, for example openai.gpt-oss-120b")
    token = os.environ.get(TOKEN, "")
    if not token:
        raise ConfigurationError(f"model {name!r} needs a Bedrock API key: set {TOKEN}")
    address = base_url or os.environ.get(ADDRESS)
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not address and not region:
        raise ConfigurationError(f"model {name!r} needs a region: set AWS_REGION, for example us-east-1")
    address = address or f"https://bedrock-mantle.{region}.api.aws/v1"
    host = URL(address).host or ""
    return OpenAIResponses(model, base_url=address, api_key=token, name=name, dialect=bedrock_dialect(host, model))
