"""Every link of the pages to a file or a heading of the project leads there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT

_LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")
_CODE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)

LINKS = [
    pytest.param(page, *link, id=f"{page.relative_to(ROOT)}:{'#'.join(filter(None, link))}")
    for page in PAGES
    for link in dict.fromkeys(_LINK.findall(_CODE.sub("", page.read_text("utf-8"))))
]


@pytest.mark.parametrize(("page", "path", "heading"), LINKS)
def test_it_leads_somewhere(page: Path, path: str, heading: str) -> None:
    target = (page.parent / path).resolve() if path else page
    assert target.is_relative_to(ROOT)
    assert target.exists()
    if heading:
        titles = re.findall(r"^#+ (.+)$", _CODE.sub("", target.read_text("utf-8")), re.MULTILINE)
        assert heading in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
