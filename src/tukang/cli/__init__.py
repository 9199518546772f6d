"""The command line: `tukang chat · run · tools · doctor · demo`.

Only the door is here, so that it opens without the extra `tukang[cli]` and can say that it is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; those of the process when None.

    Returns:
        The exit code; see `tukang.cli.exits`.
    """
    try:
        missing = [name for name in ("typer", "rich") if find_spec(name) is None]
        if missing:
            print(
                f"tukang: perintah ini butuh {' dan '.join(missing)} / this command needs {' and '.join(missing)}: "
                'pip install "tukang[cli]"',
                file=sys.stderr,
            )
            return 2
        from tukang.cli.entry import run

        return run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # while it was still being loaded
        return 130
