"""`python -m tukang`: the command line, for when the `tukang` command is not on the path."""

from __future__ import annotations

import sys

from tukang.cli import main

if __name__ == "__main__":
    sys.exit(main())
