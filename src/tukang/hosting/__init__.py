"""Our tools run for others: a toolbox as an AWS Lambda function that speaks MCP. See docs/hosting.md.

handler = LambdaHandler(lambda: toolbox([cek_stok, kirim]))
"""

from tukang.hosting.handler import LambdaHandler, toolbox
from tukang.hosting.identity import Grants

__all__ = ["Grants", "LambdaHandler", "toolbox"]
