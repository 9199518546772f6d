"""A warehouse's tools as an AWS Lambda function that speaks MCP. Its handler is `gudang.handler`; see docs/hosting.md.

The environment says what holds for the deployment: TABLE, a DynamoDB table for calls with an idempotency key.
"""

import os

from tukang import tool
from tukang.hosting import Grants, LambdaHandler, toolbox
from tukang.loop.permissions import Principal
from tukang.tools.context import CallContext
from tukang.tools.outcome import NothingDone

STOK = {"BRG001": 7, "BRG002": 0}
"""A real warehouse has a database here."""


@tool(effect="read", timeout=2)
def cek_stok(kode: str) -> dict[str, str | int]:
    """Cek stok sebuah barang.

    Argumen:
        kode: kode barang, contoh: BRG001
    """
    if kode not in STOK:
        raise NothingDone(f"barang {kode!r} tidak ada", f"Yang ada: {', '.join(STOK)}")
    return {"kode": kode, "stok": STOK[kode]}


@tool(effect="write", needs="gudang:kirim", timeout=5)
def kirim(kode: str, jumlah: int, context: CallContext) -> dict[str, str | int]:
    """Kirim barang dari gudang.

    Argumen:
        kode: kode barang, contoh: BRG001
        jumlah: berapa unit
    """
    if STOK.get(kode, 0) < jumlah:
        raise NothingDone(f"stok {kode} tidak cukup: tinggal {STOK.get(kode, 0)}")
    STOK[kode] -= jumlah
    return {"nomor_kiriman": f"KRM-{context.idempotency_key}", "kode": kode, "sisa": STOK[kode]}


def _log():
    """Where calls with a key are written down: for all instances of the function, where there is a table."""
    if table := os.environ.get("TABLE"):
        from tukang.hosting.dynamodb import DynamoLog

        return DynamoLog(table)
    from tukang.memory.keyed import MemoryLog

    return MemoryLog()


handler = LambdaHandler(
    lambda: toolbox([cek_stok, kirim], name="gudang"),
    approved=["kirim"],  # nobody can be asked here: who was granted gudang:kirim may send
    grants=Grants(
        by_id={"arn:aws:sts::*:assumed-role/Gudang/*": ["gudang:kirim"]},
        direct=Principal("bedrock"),  # Bedrock and AgentCore Gateway look, and send nothing
    ),
    log=_log,
)
