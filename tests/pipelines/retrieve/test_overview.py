"""Questions about a whole corpus: themes, a topic, a change, a comparison, what is not there, and by a model."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

from quern.pipelines.query import answer_questions
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.overview import choose
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, Question
from quern.schemas.settings import GeneratorSettings
from tests.jobs.tasks.generators.endpoint_server import MODEL, Endpoint, Said

(GLOBAL,) = find_recipes("global")


def asked(searcher: Searcher, *questions: str, **more: Any) -> list[Answer]:
    rows = [Question(query_id=str(n), question=text, **more) for n, text in enumerate(questions)]
    return list(answer_questions(searcher, rows, GLOBAL))


def topics(answer: Answer) -> list[str]:
    return list(dict.fromkeys(str(sentence.topic) for sentence in answer.sentences))


def test_every_sentence_is_cited_word_for_word(searcher: Searcher) -> None:
    questions = (
        "What are the main themes?",
        "Summarise what is said of the Tollen Bridge.",
        "Compare bees and floods.",
    )
    for answer in asked(searcher, *questions):
        quotes = {citation.number: citation for citation in answer.citations}
        chunks = {hit.chunk_id: hit for hit in answer.hits}
        assert answer.found
        assert len(answer.sentences) <= 12
        for sentence in answer.sentences:
            assert [" ".join(quotes[n].quote.split()) for n in sentence.citations] == [sentence.text]
        for citation in answer.citations:
            hit = chunks[citation.chunk_id]
            assert hit.text[citation.start - hit.start : citation.end - hit.start] == citation.quote


def test_a_question_for_themes_is_answered_from_the_largest_communities(searcher: Searcher) -> None:
    themes, overview = asked(searcher, "What are the main themes?", "Give me an overview of these documents.")
    assert len(topics(themes)) == 6
    assert len({citation.doc_id for citation in themes.citations}) > 6
    assert topics(themes) == topics(overview)
    assert any("main themes" in note for note in themes.notes)


def test_a_question_about_something_is_answered_from_what_is_near_to_it(searcher: Searcher) -> None:
    bridge, both = asked(searcher, "Summarise what is said of the Tollen Bridge.", "Compare bees and floods.")
    assert sum("Bridge" in (hit.title or "") or "ridge" in hit.text for hit in bridge.hits) > 0.8 * len(bridge.hits)
    assert not bridge.notes
    said = " ".join(sentence.text for sentence in both.sentences)
    assert re.search("bee|hive", said)
    assert "flood" in said


def test_a_change_is_told_in_the_order_of_time_within_the_time_asked_for(searcher: Searcher) -> None:
    question = "How did the ferry service change between February 2024 and May 2024?"
    (choice,) = choose(Batch(searcher, [question]), 12)
    days = [[told.when for told in topic.sentences] for topic in choice.topics]
    assert all(day and date(2024, 2, 1) <= day <= date(2024, 5, 31) for of in days for day in of)
    assert days == sorted(sorted(of) for of in days)
    assert "suspended" in " ".join(told.row["text"] for topic in choice.topics for told in topic.sentences)


def test_a_name_that_the_corpus_does_not_have_is_not_answered_with_its_themes(searcher: Searcher) -> None:
    (answer,) = asked(searcher, "What does it say about Napoleon?")
    assert (answer.found, answer.reason, answer.probability) == (False, "other_entity", 0.0)
    assert "The corpus does not name Napoleon." in answer.notes


def test_conditions_hold_for_themes_too(searcher: Searcher) -> None:
    (answer,) = asked(searcher, "What are the main themes?", where=["published_at<2024-01-01"])
    assert answer.found
    assert all(hit.published_at and hit.published_at.year < 2024 for hit in answer.hits)
    assert not asked(searcher, "What are the main themes?", where=["published_at<1900-01-01"])[0].found


def test_a_model_notes_points_of_each_community_and_answers_from_the_notes(searcher: Searcher) -> None:
    prompts: list[str] = []

    def reply(_: int, body: dict[str, Any]) -> Said:
        prompt = body["messages"][0]["content"]
        prompts.append(prompt)
        numbered = dict(re.findall(r"^\[(\d+)\] (?:\([^)]*\) )?(.+)$", prompt, re.MULTILINE))
        if "You read one part" in prompt:
            return Said(json.dumps({"sentences": [{"text": numbered["2"], "rests_on": [2]}]}))
        if "numbered notes" in prompt:
            return Said(json.dumps({"sentences": [{"text": "It is told in several places.", "rests_on": [1, 2]}]}))
        return Said("no idea")

    with Endpoint(reply).running() as endpoint:
        generator = GeneratorSettings(
            kind="openai", model=MODEL, url=endpoint.url, retries=0, tasks=("note", "overview")
        )
        by_model = Searcher(searcher.snapshot, searcher.settings.model_copy(update={"generator": generator}))
        (answer,) = asked(by_model, "What are the main themes?")
    assert sum("You read one part" in prompt for prompt in prompts) == 6
    assert (answer.by, answer.answer) == ("openai", "It is told in several places. [1][2]")
    notes = prompts[-1]
    for citation in answer.citations:
        assert " ".join(citation.quote.split())[:60] in " ".join(notes.split())
