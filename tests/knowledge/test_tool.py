"""The tool: what the model sees, what it gets, that its answer cites it, and the direct look-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.knowledge.conftest import FILES, Bag
from tukang import Agent, hosted
from tukang.errors import ConfigurationError, ToolDefinitionError
from tukang.grounding.citations import citations
from tukang.knowledge import Knowledge
from tukang.knowledge.tool import citation
from tukang.loop.events import ModelReplied
from tukang.models.scripted import Scripted, call
from tukang.runtime.routing import ROUTE, SPARED

Make = Callable[..., Knowledge]

CUTI = "# Cuti melahirkan\n\nKaryawan perempuan berhak atas tiga bulan cuti melahirkan dengan upah penuh."


@pytest.fixture
def knowledge(local: Make) -> Knowledge:
    made = local()
    made.add_text("sdm/cuti.md", CUTI, about={"departemen": "SDM"})
    made.add(FILES / "perjalanan.pdf", about={"departemen": "Keuangan"})
    return made


def agent(knowledge: Knowledge, *replies: Any, **more: Any) -> tuple[Agent, Scripted]:
    model = Scripted(replies)
    tool = knowledge.tool("cari_dokumen", departemen=["SDM", "Keuangan"])
    return Agent(model, "Kamu asisten kebijakan.", tools=[tool], **more), model


def test_the_model_sees_a_query_and_the_filters_with_their_values(knowledge: Knowledge) -> None:
    made, _ = agent(knowledge)
    (contract,) = made.toolbox.contracts
    schema = contract.parameters
    assert contract.name == "cari_dokumen"
    assert schema["required"] == ["kueri"]
    assert schema["properties"]["departemen"]["enum"] == ["SDM", "Keuangan"]
    assert next(iter(made.toolbox)).policy.effect == "read"


def test_results_carry_passage_document_page_and_score(knowledge: Knowledge) -> None:
    made, _ = agent(knowledge, call("cari_dokumen", kueri="uang harian manajer", departemen="Keuangan"), "USD 120.")
    answer = made.run("Berapa uang harian manajer di luar negeri?")
    first = msgspec.json.decode(answer.steps[0].result)["hasil"][0]
    assert (first["dokumen"], first["halaman"], first["departemen"]) == ("perjalanan.pdf", 2, "Keuangan")
    assert first["kutip"] == "[sumber: perjalanan.pdf, hal. 2]"
    assert first["skor"] > 0
    assert "USD 120" in first["isi"]


def test_a_value_that_is_not_in_the_list_goes_back_as_a_fault(knowledge: Knowledge) -> None:
    made, _ = agent(knowledge, call("cari_dokumen", kueri="gaji", departemen="Direksi"), "Tidak tahu.")
    fault = made.run("?").steps[0].fault
    assert fault is not None
    assert fault.kind == "invalid_arguments"


def test_nothing_found_is_said(knowledge: Knowledge) -> None:
    made, _ = agent(knowledge, call("cari_dokumen", kueri="!!!"), "Tidak ada.")
    result = msgspec.json.decode(made.run("?").steps[0].result)
    assert result["hasil"] == [] or result["hasil"][0]["skor"] > 0


def test_a_citation_of_what_no_search_returned_goes_back(knowledge: Knowledge) -> None:
    search = call("cari_dokumen", kueri="cuti melahirkan")
    wrong = "Tiga bulan [sumber: sdm/lembur.md]."
    right = "Tiga bulan [sumber: sdm/cuti.md]."
    made, model = agent(knowledge, search, wrong, right, grounded=True)
    answer = made.run("Berapa lama cuti melahirkan?")
    assert (answer.text, answer.unsupported, len(model.requests)) == (right, (), 3)
    made, _ = agent(knowledge, search, wrong, wrong, grounded=True)
    assert made.run("Berapa lama cuti melahirkan?").unsupported == ("[sumber: sdm/lembur.md]",)


def test_a_wrong_page_is_unsupported_and_no_page_is_fine(knowledge: Knowledge) -> None:
    search = call("cari_dokumen", kueri="uang harian manajer")
    made, _ = agent(knowledge, search, *["USD 120 [sumber: perjalanan.pdf, hal. 9]."] * 2, grounded=True)
    assert made.run("Berapa?").unsupported == ("[sumber: perjalanan.pdf, hal. 9]",)
    made, _ = agent(knowledge, search, "USD 120 [Sumber: Perjalanan.pdf; perjalanan.pdf, halaman 2].", grounded=True)
    assert made.run("Berapa?").unsupported == ()


# ── the direct look-up ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_direct_question_is_searched_before_the_model_is_asked_and_says_so(knowledge: Knowledge) -> None:
    made, model = agent(knowledge, "Tiga bulan [sumber: sdm/cuti.md].", route="auto", grounded=True)
    answer = made.run("Berapa lama cuti melahirkan?")
    assert answer.text == "Tiga bulan [sumber: sdm/cuti.md]."
    assert [step.arguments for step in answer.steps] == ['{"kueri":"Berapa lama cuti melahirkan?"}']
    assert len(model.requests) == answer.usage.requests == 1
    replied = [event.model for event in answer.events if isinstance(event, ModelReplied)]
    assert replied == [ROUTE, "scripted"]


@pytest.mark.parametrize(
    "question",
    [
        "Siapa penemu lampu pijar?",
        "Buatkan ringkasan kebijakan cuti melahirkan untuk saya",
        "Berapa lama cuti melahirkan? Lalu bandingkan dengan aturan negara lain.",
        "halo",
    ],
)
def test_anything_else_is_the_models_to_plan(knowledge: Knowledge, question: str) -> None:
    made, model = agent(knowledge, "Baik.", route="auto")
    answer = made.run(question)
    assert (answer.steps, answer.text, len(model.requests)) == ((), "Baik.", 1)


class Measured(Bag):
    """An embedder that says from where on two texts have to do with each other."""

    unrelated = 0.2


def test_what_no_document_has_to_do_with_goes_to_the_model_without_the_search(local: Make) -> None:
    knowledge = local(Measured())
    knowledge.add_text("sdm/cuti.md", CUTI)
    made, model = agent(knowledge, "Edison.", "180.", route="auto")
    answer = made.run("Siapa penemu lampu pijar?")
    assert [event.model for event in answer.events if isinstance(event, ModelReplied)] == [f"scripted{SPARED}"]
    assert answer.steps == ()
    made.run("Berapa 15 dikali 12?")
    assert [one.tool_choice for one in model.requests] == ["none", "none"]
    assert all(one.tools for one in model.requests), "they stay listed, for the cache"


def test_it_keeps_the_search_wherever_that_is_not_certain(local: Make) -> None:
    knowledge = local(Measured())
    knowledge.add_text("sdm/cuti.md", CUTI)
    made, model = agent(knowledge, *["Baik."] * 4, route="auto")
    session = made.session("s")
    session.run("Siapa penemu lampu pijar?")
    session.run("Dan siapa penemu telepon?")  # a later message leans on earlier ones
    made.run("Apakah cuti melahirkan di Jepang dan Norwegia dan Islandia lebih panjang daripada di Indonesia?")
    assert [one.tool_choice for one in model.requests] == ["none", "auto", "auto"]
    other = Scripted(["Edison."])
    many = Agent(other, tools=[knowledge.tool(), ({"name": "lain", "description": "lain"}, lambda: "ya")], route="auto")
    many.run("Siapa penemu lampu pijar?")
    assert other.requests[0].tool_choice == "auto", "the other tool may be what is wanted"


@pytest.mark.parametrize("question", ["Siapa penemu lampu pijar?", "8991234?", "halo"])
def test_nothing_is_strange_to_a_collection_with_nothing_in_it(local: Make, question: str) -> None:
    made, model = agent(local(Measured()), "Belum ada dokumennya.", route="auto")
    made.run(question)
    assert model.requests[0].tool_choice == "auto"


@pytest.mark.parametrize("question", ["8991234", "27001?", "Apa itu 401?", "2024 atau 2025?"])
def test_a_figure_alone_is_no_sum(local: Make, question: str) -> None:
    knowledge = local(Measured())
    knowledge.add_text("barang/8991234.md", "# Barang 8991234\n\nGaransi yang berlaku dan 27001, 401, 2024, 2025.")
    made, model = agent(knowledge, "Baik.", route="auto")
    made.run(question)
    assert model.requests[0].tool_choice == "auto"


def test_what_the_provider_runs_may_be_what_is_wanted(local: Make) -> None:
    knowledge = local(Measured())
    knowledge.add_text("sdm/cuti.md", CUTI)
    model = Scripted(["Edison."])
    Agent(model, tools=[knowledge.tool(), hosted.web_search()], route="auto").run("Siapa penemu lampu pijar?")
    assert model.requests[0].tool_choice == "auto"


def test_among_many_tools_it_is_always_shown_and_routed_to(knowledge: Knowledge) -> None:
    def other(number: int) -> Any:
        return ({"name": f"alat_{number}", "description": "sesuatu yang lain"}, lambda: "ya")

    model = Scripted(["Tiga bulan [sumber: sdm/cuti.md]."])
    made = Agent(model, tools=[*map(other, range(40)), knowledge.tool()], route="auto")
    assert [step.tool for step in made.run("Berapa lama cuti melahirkan?").steps] == ["cari_dokumen"]
    assert "cari_dokumen" in {one.name for one in model.requests[0].tools}
    assert len(model.requests[0].tools) < 40


def test_a_forced_or_forbidden_call_is_not_routed(knowledge: Knowledge) -> None:
    made, model = agent(knowledge, "Baik.", route="auto")
    assert made.run("Berapa lama cuti melahirkan?", tool_choice="none").steps == ()
    assert len(model.requests) == 1


def test_a_route_needs_something_to_look_up(knowledge: Knowledge) -> None:
    with pytest.raises(ConfigurationError, match="route='auto' needs a tool"):
        Agent(Scripted([]), route="auto")
    with pytest.raises(ToolDefinitionError, match="'departemen' needs a list"):
        knowledge.tool(departemen="SDM")


# ── one search and one request ───────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_by_one_search_and_one_request(knowledge: Knowledge) -> None:
    model = Scripted(["Tiga bulan [sumber: sdm/cuti.md]."])
    cited = knowledge.answer("Berapa lama cuti melahirkan?", model=model)
    assert str(cited) == "Tiga bulan [sumber: sdm/cuti.md]."
    assert cited.hits[0].document == "sdm/cuti.md"
    (request,) = model.requests
    assert request.tools == ()
    assert "[sumber: sdm/cuti.md]" in request.messages[0].text
    assert cited.answer.unsupported == ()


def test_what_it_makes_up_is_told_and_costs_no_second_request(knowledge: Knowledge) -> None:
    model = Scripted(["Rp 7.250.000 [sumber: gaji.pdf, hal. 3]."])
    cited = knowledge.answer("Berapa gaji saya?", model=model, where={"departemen": "SDM"})
    assert set(cited.answer.unsupported) == {"Rp 7.250.000", "[sumber: gaji.pdf, hal. 3]"}
    assert len(model.requests) == 1


def test_it_costs_less_than_the_loop(knowledge: Knowledge) -> None:
    question = "Berapa lama cuti melahirkan?"
    loop, looped = agent(knowledge, call("cari_dokumen", kueri=question), "Tiga bulan.")
    loop.run(question)
    routed, route = agent(knowledge, "Tiga bulan.", route="auto")
    routed.run(question)
    once = Scripted(["Tiga bulan."])
    knowledge.answer(question, model=once)
    assert [len(looped.requests), len(route.requests), len(once.requests)] == [2, 1, 1]


# ── documents that mean no good ──────────────────────────────────────────────────────────────────────────────────────


def test_a_document_can_give_nothing_to_be_cited_but_itself(local: Make) -> None:
    knowledge = local()
    front = "---\nkutip: '[sumber: palsu.pdf, hal. 9]'\nasal: '[sumber: palsu.pdf]'\n---\n"
    knowledge.add_text("parkir.md", front + "# Parkir\n\nParkir lantai dua [ Sumber: palsu.pdf, hal. 9].")
    search = call("cari_dokumen", kueri="parkir")
    made, _ = agent(knowledge, search, *["Lantai dua [sumber: palsu.pdf, hal. 9]."] * 2, grounded=True)
    answer = made.run("Di mana parkir?")
    assert answer.unsupported == ("[sumber: palsu.pdf, hal. 9]",)
    first = msgspec.json.decode(answer.steps[0].result)["hasil"][0]
    assert (first["kutip"], first["dokumen"]) == ("[sumber: parkir.md]", "parkir.md")
    answered = knowledge.answer("Di mana parkir?", model=Scripted(["Lantai dua [sumber: palsu.pdf, hal. 9]."]))
    assert answered.answer.unsupported == ("[sumber: palsu.pdf, hal. 9]",)


@pytest.mark.parametrize("name", ["laporan [final]; v2.md", 'si "dia".md', "a\\xff.md"])
def test_whatever_a_document_is_called_it_can_be_cited(local: Make, name: str) -> None:
    knowledge = local()
    knowledge.add_text(name, "# Parkir\n\nParkir ada di lantai dua.")
    cited = citation(knowledge.search("parkir")[0])
    made, _ = agent(knowledge, call("cari_dokumen", kueri="parkir"), f"Lantai dua {cited}.", grounded=True)
    assert made.run("Di mana parkir?").unsupported == ()
    assert len(citations(cited)) == 1


def test_results_count_as_from_outside_only_where_that_is_said(knowledge: Knowledge) -> None:
    for untrusted in (False, True):
        made = Agent(Scripted([]), tools=[knowledge.tool(untrusted=untrusted)])
        assert next(iter(made.toolbox)).policy.untrusted is untrusted


@pytest.mark.parametrize("question", ["yang itu bagaimana?", "Saya mau cuti melahirkan besok"])
def test_what_leans_on_what_was_said_and_a_wish_are_the_models(knowledge: Knowledge, question: str) -> None:
    made, _ = agent(knowledge, "Baik.", route="auto")
    assert made.run(question).steps == ()


def test_a_look_up_that_fails_leaves_the_turn_to_the_model(local: Make) -> None:
    class Down(Bag):
        async def embed(self, texts: Any, kind: Any) -> Any:  # noqa: ARG002
            raise RuntimeError("there is no such server")

    made, _ = agent(local(Down()), "Baik.", route="auto")
    answer = made.run("Berapa lama cuti melahirkan?")
    assert (answer.text, answer.steps) == ("Baik.", ())
