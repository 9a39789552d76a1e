from quern.jobs.reasoning.alignment.constituents import parsed
from quern.jobs.reasoning.alignment.task import AlignInput, Alignment, align_task
from quern.jobs.reasoning.answering.inputs import Evidence
from quern.jobs.reasoning.runner import Reasoner

PAGE = (
    "Port Maren has two piers. The new mole at Port Maren cost 9,000 crowns in 1907. "
    "It was built by Ann Lee, an engineer."
)


def _aligned(question: str, text: str = PAGE, title: str | None = None) -> Alignment:
    (given,) = parsed([question], "shallow")
    (done,) = Reasoner().run(align_task(), [AlignInput(given, Evidence(text, title, [], []))])
    return done.output


def test_a_chunk_that_says_all_of_a_question_in_one_place_is_fully_aligned() -> None:
    alignment = _aligned("How many crowns did the new mole at Port Maren cost?")
    said = [PAGE[m.start : m.end] for m in alignment.matches]
    assert alignment.label == "full"
    assert alignment.share == 1.0
    assert said == ["9,000 crowns", "new mole", "Port Maren", "cost"]


def test_what_a_chunk_lacks_is_no_match() -> None:
    alignment = _aligned("How many crowns did the old lighthouse at Port Maren cost?")
    assert alignment.label == "partial"
    assert _aligned("Who sang at the opera?", "Trams run to the harbour.").label == "none"


def test_a_question_without_a_word_of_content_has_no_constituents() -> None:
    for question in ("", "?", "is it", "\u200b"):
        assert _aligned(question).label == "none"
