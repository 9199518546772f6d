"""`tukang mock`: a server that speaks every provider's protocol from a script. Says where it is and what comes in.

This file evaluates its annotations when it builds the command, because the help in them is in the user's language.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tukang.cli import exits
from tukang.cli.screen import Screen, one_line
from tukang.cli.texts import Texts
from tukang.errors import ConfigurationError
from tukang.loop.events import Language
from tukang.models.scripted import Says, read_script

_VARIABLES = (
    "OPENAI_BASE_URL={url}/v1",
    "OPENROUTER_BASE_URL={url}/v1",
    "ANTHROPIC_BASE_URL={url}",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME={url} AWS_REGION=us-east-1 AWS_BEARER_TOKEN_BEDROCK=any",
    "AWS_ENDPOINT_URL_BEDROCK_MANTLE={url}/v1",
    "OLLAMA_HOST={url}",
    "GOOGLE_GEMINI_BASE_URL={url}",
)
"""What points each vendor's client here, with the path it wants after the address."""


class _Sentences(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    script: str
    host: str
    port: str
    repeat: str
    plays: str
    echoes: str
    point: str
    stop: str
    refused: str
    occupied: str


_SENTENCES: Mapping[Language, _Sentences] = {
    "id": _Sentences(
        about="Menjalankan server tiruan yang berbicara semua protokol penyedia menurut naskah, tanpa kunci apa pun.",
        script="Naskah, satu jawaban JSON per baris; tanpa: memanggil alat pertama sekali, lalu mengulang kata pengguna",
        host="Alamat tempat mendengarkan",
        port="Porta; 0: pilih yang bebas",
        repeat="Ulangi jawaban terakhir kalau naskah habis",
        plays="naskah {path}: {count} jawaban, untuk setiap klien dari awal (nama klien: {url}/NAMA/v1/…)",
        echoes="tanpa naskah: memanggil alat pertama sekali, lalu mengulang kata pengguna",
        point="arahkan klien ke sini; kunci boleh apa saja:",
        stop="Ctrl-C berhenti",
        refused="ditolak: {why}",
        occupied="Tidak bisa mendengarkan di {host}:{port}: {reason}. Pilih porta lain dengan --port (0: yang bebas).",
    ),
    "en": _Sentences(
        about="Run a mock server that speaks every provider's protocol from a script, with no key at all.",
        script="The script: one JSON reply a line; none: call the first tool once, then repeat the user's words",
        host="The address to listen on",
        port="The port; 0: any that is free",
        repeat="Say the last reply again and again when the script is at its end",
        plays="script {path}: {count} replies, for each client from the beginning (a client's name: {url}/NAME/v1/…)",
        echoes="no script: call the first tool once, then repeat the user's words",
        point="point clients here; any key will do:",
        stop="Ctrl-C stops",
        refused="refused: {why}",
        occupied="Cannot listen on {host}:{port}: {reason}. Choose another port with --port (0: any that is free).",
    ),
}


def add(app: typer.Typer, texts: Texts) -> None:
    """Add the command, in the language of these texts."""
    said = _SENTENCES[texts.language]

    @app.command("mock", help=said.about)
    def mock(  # pyright: ignore[reportUnusedFunction]
        script: Annotated[Path | None, typer.Argument(help=said.script)] = None,
        host: Annotated[str, typer.Option("--host", help=said.host)] = "127.0.0.1",
        port: Annotated[int, typer.Option("--port", "-p", help=said.port, min=0, max=65535)] = 8123,
        repeat: Annotated[bool, typer.Option("--repeat", help=said.repeat)] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.opt_quiet)] = False,
    ) -> int:
        replies = None if script is None else read_script(script)
        screen = Screen(quiet=quiet)
        if replies is None:
            screen.note((said.echoes, "dim"))
        try:
            asyncio.run(_serve(screen, said, replies, script, host=host, port=port, repeat=repeat))
        except OSError as error:
            # asyncio puts the address into its own words; a name that is not known has a number of another kind
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
            raise ConfigurationError(said.occupied.format(host=host, port=port, reason=reason)) from error
        except KeyboardInterrupt:
            pass  # the way to end it
        return exits.ANSWERED


async def _serve(
    screen: Screen,
    said: _Sentences,
    replies: Sequence[Says] | None,
    path: Path | None,
    *,
    host: str,
    port: int,
    repeat: bool,
) -> None:
    from tukang.mock import MockServer, Received  # aiohttp is not for those who only want help

    def tell(received: Received) -> None:
        who = " ".join(filter(None, (received.protocol, received.client, one_line(received.model, 60))))
        refused = one_line(said.refused.format(why=received.refused), 300)
        screen.note((f"✗ {who}  {refused}", "red") if received.refused else (f"✓ {who}", "dim"))

    async with MockServer(replies, host=host, port=port, repeat=repeat, tell=tell) as server:
        if replies is not None:
            screen.note((said.plays.format(path=path, count=len(replies), url=server.url), "dim"))
        screen.note((said.point, "dim"))
        for variable in _VARIABLES:
            screen.note(f"  export {variable.format(url=server.url)}")
        screen.note((said.stop, "dim"))
        screen.whole(server.url)
        await asyncio.Event().wait()
