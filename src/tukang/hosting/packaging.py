"""A zip for AWS Lambda: your modules, tukang, and what they need, taken from the environment that this runs in.

What was tested here is what runs there, and nothing is downloaded. So it has to be made on a system like the function's: the
same Python, the same processor, Linux. Not in it: what Lambda brings (botocore), the command line, and what is only for
installing.

    python -m tukang.hosting.packaging examples/lambda/gudang.py --out gudang.zip
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from tukang.errors import ConfigurationError

_ROOT = "tukang"
_SKIPPED = frozenset({"__pycache__", "tests", "test"})
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?[^;]*(?:;(.*))?")
_DATE = (1980, 1, 1, 0, 0, 0)
"""The same sources make the same zip, byte for byte."""


def build(modules: Sequence[Path], out: Path, also: Iterable[str] = ()) -> int:
    """Make the zip; returns the bytes it unpacks to.

    Args:
        modules: your files, and folders that are packages; they stand at the top.
        out: where to.
        also: distributions that your modules need beside tukang's own.

    Raises:
        ConfigurationError: one of them is not there.
    """
    size = 0
    found = sorted({**dict(_installed((_ROOT, *also))), **dict(_own(modules))}.items())
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in found:
            data = path.read_bytes()
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.suffix == ".so" else 0o644) << 16
            archive.writestr(entry, data)
            size += len(data)
    return size


def _own(modules: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    for module in modules:
        if not module.exists():
            raise ConfigurationError(f"{module} is not there: name the files and folders of your function")
        for path in [module] if module.is_file() else _files(module):
            yield str(path.relative_to(module.parent)), path


def _installed(names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Name in the zip → file, for these distributions and all that they need."""
    wanted, seen = list(names), set[str]()
    while wanted:
        name = wanted.pop()
        if (key := re.sub(r"[-_.]+", "-", name).lower()) in seen:
            continue
        seen.add(key)
        try:
            found = distribution(name)
        except PackageNotFoundError as error:
            raise ConfigurationError(f"{name} is not installed here, and the function needs it") from error
        wanted += _needed(found)
        yield from _package() if key == _ROOT else _of(found)
    yield from _metadata(distribution(_ROOT))


def _needed(found: Distribution) -> Iterator[str]:
    """What a distribution needs on this system, its extras aside."""
    for line in found.requires or ():
        if (match := _REQUIREMENT.match(line)) and _holds(match[2]):
            yield match[1]


def _holds(marker: str | None) -> bool:
    if not marker:
        return True
    try:
        from packaging.markers import Marker
    except ImportError as error:
        raise ConfigurationError("to make a zip, the machine that makes it needs: pip install packaging") from error
    return Marker(marker.strip()).evaluate({"extra": ""})


def _of(found: Distribution) -> Iterator[tuple[str, Path]]:
    for file in found.files or ():
        path = Path(str(found.locate_file(file)))
        if ".." not in file.parts and not _SKIPPED & set(file.parts) and path.is_file():
            yield str(file), path


def _package() -> Iterator[tuple[str, Path]]:
    """tukang itself, also where it is installed so that it can be edited."""
    import tukang

    here = Path(str(tukang.__file__)).parent
    for path in _files(here):
        if path.relative_to(here).parts[0] != "cli":
            yield f"{_ROOT}/{path.relative_to(here)}", path


def _metadata(found: Distribution) -> Iterator[tuple[str, Path]]:
    """What says which version of tukang it is."""
    for file in found.files or ():
        if file.name in ("METADATA", "WHEEL") and (path := Path(str(found.locate_file(file)))).is_file():
            yield str(file), path


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not _SKIPPED & set(path.parts))


def main(words: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tukang.hosting.packaging", description=__doc__)
    parser.add_argument("modules", nargs="+", type=Path, help="your files and packages")
    parser.add_argument("--out", type=Path, default=Path("function.zip"), help="the zip to make")
    parser.add_argument("--also", action="append", default=[], help="a distribution that they need; may be repeated")
    given = parser.parse_args(words)
    try:
        size = build(given.modules, given.out, given.also)
    except (ConfigurationError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB unpacked")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
