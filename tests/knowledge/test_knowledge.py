"""Documents in, found and out, on every database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.knowledge.conftest import FILES, Bag
from tukang.knowledge import Knowledge
from tukang.memory.stores.errors import StoreError

Make = Callable[..., Knowledge]

CUTI = """---
departemen: SDM
---
# Cuti

## Cuti tahunan

Karyawan berhak atas 12 hari cuti tahunan.

## Cuti melahirkan

Karyawan perempuan berhak atas tiga bulan cuti melahirkan.
"""
DINAS = """---
departemen: Keuangan
---
# Perjalanan dinas

Penggantian biaya diajukan dengan formulir KEU-07 paling lambat empat belas hari setelah pulang.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents."""
    place = tmp_path / "kebijakan"
    (place / "sdm").mkdir(parents=True)
    (place / "sdm" / "cuti.md").write_text(CUTI, "utf-8")
    (place / "dinas.md").write_text(DINAS, "utf-8")
    return place


def test_what_was_added_is_found_with_where_it_stands(make: Make, folder: Path) -> None:
    knowledge = make()
    outcomes = knowledge.add(folder, FILES / "perjalanan.pdf")
    assert [(Path(one.source).name, one.became) for one in outcomes] == [
        ("dinas.md", "added"),
        ("cuti.md", "added"),
        ("perjalanan.pdf", "added"),
    ]
    hit = knowledge.search("berapa lama cuti untuk yang melahirkan?")[0]
    assert (hit.document, hit.title, hit.heading) == ("sdm/cuti.md", "Cuti", "Cuti › Cuti melahirkan")
    assert (hit.text_place, hit.vector_place, dict(hit.data)) == (1, 1, {"departemen": "SDM"})
    paged = knowledge.search("uang harian manajer ke luar negeri")[0]
    assert (paged.document, paged.page) == ("perjalanan.pdf", 2)
    assert "| Manajer | Rp 500.000 | USD 120 |" in paged.text


@pytest.mark.parametrize(
    ("query", "document"),
    [("KEU-07", "dinas.md"), ("keu07", "dinas.md"), ("mengajukan penggantian", "dinas.md"), ("12 hari", "sdm/cuti.md")],
)
def test_ids_numbers_and_other_forms_of_a_word_are_found_by_full_text(
    make: Make, folder: Path, query: str, document: str
) -> None:
    knowledge = make()
    knowledge.add(folder)
    hit = next(hit for hit in knowledge.search(query) if hit.text_place == 1)
    assert hit.document == document


def test_a_search_can_be_narrowed_by_what_is_known_about_documents(make: Make, folder: Path) -> None:
    knowledge = make()
    knowledge.add(folder)
    assert {hit.document for hit in knowledge.search("hari", where={"departemen": "Keuangan"})} == {"dinas.md"}
    both = knowledge.search("hari", where={"departemen": ["Keuangan", "SDM"]})
    assert {hit.document for hit in both} == {"dinas.md", "sdm/cuti.md"}
    assert knowledge.search("hari", where={"departemen": "Legal"}) == []


def test_only_what_changed_is_worked_on(make: Make, folder: Path) -> None:
    bag = Bag()
    knowledge = make(bag)
    knowledge.add(folder)
    bag.asked.clear()
    assert {one.became for one in knowledge.add(folder)} == {"unchanged"}
    assert bag.asked == []
    changed = CUTI.replace("tiga bulan", "empat bulan") + "\n## Cuti haid\n\nSatu hari setiap bulan.\n"
    (folder / "sdm" / "cuti.md").write_text(changed, "utf-8")
    (outcome,) = (one for one in knowledge.add(folder) if one.became == "updated")
    assert (outcome.passages, outcome.new, outcome.gone) == (3, 2, 1)
    assert [text.partition("\n")[0] for text in bag.asked] == ["Cuti › Cuti melahirkan", "Cuti › Cuti haid"]
    texts = [hit.text for hit in knowledge.search("cuti melahirkan bulan")]
    assert any("empat bulan" in text for text in texts)
    assert not any("tiga bulan" in text for text in texts)


def test_what_is_removed_is_not_found(make: Make, folder: Path) -> None:
    knowledge = make()
    knowledge.add(folder)
    assert knowledge.remove("sdm/cuti.md") == [str(folder / "sdm" / "cuti.md")]
    assert {hit.document for hit in knowledge.search("cuti melahirkan")} <= {"dinas.md"}
    assert [one.name for one in knowledge.documents()] == ["dinas.md"]
    assert knowledge.remove("sdm/cuti.md") == []
    assert knowledge.remove(folder / "dinas.md") == [str(folder / "dinas.md")]
    assert knowledge.search("formulir") == []


def test_another_process_sees_a_change(make: Make, folder: Path) -> None:
    here, there = make(), make()
    here.add(folder)
    assert there.search("melahirkan")[0].document == "sdm/cuti.md"
    here.remove("sdm/cuti.md")
    assert all(hit.document != "sdm/cuti.md" for hit in there.search("melahirkan"))


def test_collections_know_nothing_of_each_other(make: Make, folder: Path) -> None:
    one, other = make(name="satu"), make(name="dua")
    one.add(folder / "sdm")
    other.add(folder / "dinas.md")
    assert {hit.document for hit in one.search("hari cuti formulir")} == {"cuti.md"}
    assert {hit.document for hit in other.search("hari cuti formulir")} == {"dinas.md"}


def test_the_vectors_of_two_embedders_are_never_mixed(make: Make, folder: Path) -> None:
    make(Bag("satu")).add(folder)
    with pytest.raises(StoreError, match="'satu', not with 'dua'"):
        make(Bag("dua")).search("cuti")


def test_a_collection_knows_whose_vectors_it_has(store: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bag = Bag("openai:kecil")
    monkeypatch.setattr(
        "tukang.knowledge.knowledge.named", lambda name: bag if name == bag.name else pytest.fail(str(name))
    )
    first = Knowledge(store, embedder=bag)
    first.upgrade()
    first.add(folder)
    unsaid = Knowledge(store)
    assert unsaid.search("melahirkan")[0].document == "sdm/cuti.md"
    for one in (first, unsaid):
        one._wait(one.aclose)  # pyright: ignore[reportPrivateUsage]


def test_what_was_removed_is_not_left_in_the_file(tmp_path: Path) -> None:
    knowledge = Knowledge(f"sqlite:///{tmp_path}/a.db", embedder=Bag())
    knowledge.add_text("rahasia", "# Rahasia\n\nkatasandinyaxyzzy")
    knowledge.remove("rahasia")
    knowledge._wait(knowledge.aclose)  # pyright: ignore[reportPrivateUsage]
    assert b"katasandinyaxyzzy" not in (tmp_path / "a.db").read_bytes()


def test_a_text_is_kept_under_a_name_and_replaced(make: Make) -> None:
    knowledge = make()
    assert knowledge.add_text("aturan", "# Parkir\n\nDi lantai dua.", about={"departemen": "Umum"}).became == "added"
    assert (
        knowledge.add_text("aturan", "# Parkir\n\nDi lantai dua.", about={"departemen": "Umum"}).became == "unchanged"
    )
    assert knowledge.add_text("aturan", "# Parkir\n\nDi lantai tiga.").became == "updated"
    (hit,) = knowledge.search("parkir lantai")
    assert (hit.text, hit.document, dict(hit.data)) == ("Di lantai tiga.", "aturan", {})


def test_the_same_passage_twice_in_a_document_is_kept_twice(make: Make) -> None:
    knowledge = make()
    text = "# A\n\n## B\n\nSama persis.\n\n## B\n\nSama persis.\n"
    assert knowledge.add_text("dua", text).passages == 2
    once = knowledge.add_text("dua", "# A\n\n## B\n\nSama persis.\n")
    assert (once.passages, once.new, once.gone) == (1, 0, 1)
    assert len(knowledge.search("sama persis")) == 1


def test_how_far_it_is_is_told(make: Make, folder: Path) -> None:
    steps: list[tuple[str, int, int, str]] = []
    make().add(
        folder,
        say=lambda step: steps.append(
            (step.source, step.done, step.total, step.outcome.became if step.outcome else "")
        ),
    )
    assert steps == [
        ("dinas.md", 0, 1, ""),
        ("dinas.md", 1, 1, ""),
        ("dinas.md", 1, 1, "added"),
        ("sdm/cuti.md", 0, 2, ""),
        ("sdm/cuti.md", 2, 2, ""),
        ("sdm/cuti.md", 2, 2, "added"),
    ]


def test_postgres_wants_to_be_asked_for_the_tables(postgres_url: str) -> None:
    knowledge = Knowledge(postgres_url, embedder=Bag())
    try:
        with pytest.raises(StoreError) as raised:
            knowledge.search("cuti")
        assert raised.value.kind == "not_upgraded"
        assert "rahasia" not in str(raised.value)
    finally:
        knowledge._wait(knowledge.aclose)  # pyright: ignore[reportPrivateUsage]
