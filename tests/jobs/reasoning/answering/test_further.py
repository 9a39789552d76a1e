"""What is told beside the answer."""

from __future__ import annotations

from quern.jobs.reasoning.answering.further import earns_its_place
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence


def test_a_sentence_of_another_page_must_say_more_of_the_question() -> None:
    mill = "The windmill on Tarn Hill cost 3,100 crowns. It holds 240 sacks."
    ferry = "The ferry to Tarn Hill cost 900 crowns. Josef Arndt, a joiner, was its owner."
    pages = [Evidence(mill, None, [], [], page="mill"), Evidence(ferry, None, [], [], page="ferry")]
    given = AnswerInput("What did the windmill on Tarn Hill cost Josef Arndt?", pages)
    told = [n for n in (2, 3, 4) if earns_its_place(given, [1], n)]
    assert told == [2, 4], "the next of the page, and who is asked of; not what something else cost"
