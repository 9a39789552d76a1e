"""The tasks of GGatrieval's rounds by rule: selection, verification, compensation."""

from __future__ import annotations

from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.rounds import (
    CompensateInput,
    Compensation,
    Labelled,
    LabelledChunks,
    Selection,
    Verification,
    compensate_task,
    select_task,
    verify_task,
)
from quern.jobs.reasoning.alignment.task import AlignInput, aligned
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.schemas.settings import GGatrievalSettings

QUESTION = "How many crowns did the new mole at Port Maren cost?"
PARSED = parsed(QUESTION)
MOLE = "The new mole was opened by the mayor."
PORT = "Boats of Port Maren cost their owners dear."
ALL = "The new mole at Port Maren cost 9,000 crowns."
SETTINGS = GGatrievalSettings(keep=2)


def labelled(text: str, place: int) -> Labelled:
    evidence = Evidence(text, None, [], [], chunk_id=text)
    return Labelled(evidence, aligned(AlignInput(PARSED, evidence)), place)


def compensation(text: str) -> Compensation:
    return compensate_task(SETTINGS).rule(CompensateInput(PARSED, labelled(text, 0)))


def test_chunks_that_match_other_parts_of_a_question_are_kept_before_better_placed_repetitions() -> None:
    again = "The new mole was opened to all."
    chunks = [labelled(t, n) for n, t in enumerate((MOLE, again, PORT))]
    assert select_task(SETTINGS).rule(LabelledChunks(PARSED, chunks)) == Selection(kept=[0, 2])


def test_numbers_that_are_no_passage_are_struck_from_a_models_selection() -> None:
    given = LabelledChunks(PARSED, [labelled(MOLE, 0), labelled(PORT, 1)])
    checked = select_task(SETTINGS).check(given, Selection(kept=[1, 7, 1]))
    assert checked.good == Selection(kept=[1])
    assert [p.reason for p in checked.problems] == ["unknown_passage"]
    assert select_task(SETTINGS).check(given, Selection(kept=[])).good is None


def test_chunks_answer_where_one_of_them_matches_all_in_one_place() -> None:
    verify = verify_task()
    assert verify.rule(LabelledChunks(PARSED, [labelled(PORT, 0), labelled(ALL, 1)])).answers
    apart = verify.rule(LabelledChunks(PARSED, [labelled(MOLE, 0)]))
    assert not apart.answers
    assert "Port Maren" in [PARSED.constituents[n].text for n in apart.missing]
    assert not verify.rule(LabelledChunks(PARSED, [])).answers
    said = verify.check(LabelledChunks(PARSED, []), Verification(answers=True)).good
    assert said is not None
    assert not said.answers, "a model that has nothing before it verifies nothing"


def test_a_chunk_that_matches_most_is_itself_looked_for_with_the_question_and_one_that_does_not_adds_nothing() -> None:
    most = compensation("In Port Maren rain fell. The new mole at Port Maren cost much.")
    assert (most.question, most.passage) == (QUESTION, "The new mole at Port Maren cost much.")
    assert compensation("The mayor cost us the election.").query == QUESTION


def test_every_prompt_can_be_rendered() -> None:
    chunk = labelled("A page says </passage> to end itself.", 0)
    prompts = [
        select_task(SETTINGS).render(LabelledChunks(PARSED, [chunk])),
        verify_task().render(LabelledChunks(PARSED, [chunk])),
        compensate_task(SETTINGS).render(CompensateInput(PARSED, chunk)),
    ]
    assert all("Port Maren" in p and p.count("</passage>") == 1 for p in prompts)
