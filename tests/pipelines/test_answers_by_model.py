"""Answers whose sentences a model chooses: what it is asked, what is checked, and when the rule stands in for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.conftest import Quern, read_jsonl
from tests.jobs.tasks.generators.endpoint_server import Endpoint, Said, Serve

QUESTION = "Who is the master of the Lady Orrin?"


def prompt(body: dict[str, Any]) -> str:
    """What is asked behind the examples."""
    return str([m for m in body["messages"] if m["role"] == "user" and "Question: " in m["content"]][-1]["content"])


def likely(body: dict[str, Any]) -> list[str]:
    """The lines of a prompt that the reader found likely."""
    return re.findall(r"^- (.+)$", prompt(body).partition("From these:")[2], re.MULTILINE)


def is_to_answer(body: dict[str, Any]) -> bool:
    """Whether a request asks for an answer, and not for one of the steps before and after it."""
    return "You answer questions from documents" in body["messages"][0]["content"]


def to_answer(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The requests that ask for an answer."""
    return [body for body in endpoint.asked if is_to_answer(body)]


def says(body: dict[str, Any], *texts: str) -> Said:
    """What a model says that answers with these sentences, and to other steps: nothing of use."""
    said = [{"text": text} for text in texts]
    return Said(json.dumps({"sentences": said}) if is_to_answer(body) else "no idea")


def test_a_model_is_given_chunks_and_likely_lines_and_what_it_writes_is_cited(
    mini_web: Path, quern_here: Quern, serve: Serve
) -> None:
    endpoint = serve(lambda number, body: says(body, "Edda Marsh"))
    asked = quern_here("ask", "-w", mini_web, "--json", *endpoint.options(), QUESTION)
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    (body,) = to_answer(endpoint)
    assert prompt(body).endswith(f"Question: {QUESTION}\n")
    assert len(likely(body)) == 5
    assert prompt(body).count("<evidence>") == 3
    assert answer["by"] == "openai"
    assert answer["answer"].startswith("Edda Marsh [1]")
    assert "Edda Marsh" in answer["citations"][0]["quote"]
    for citation in answer["citations"]:
        (hit,) = (h for h in answer["hits"] if h["chunk_id"] == citation["chunk_id"])
        assert hit["text"][citation["start"] - hit["start"] : citation["end"] - hit["start"]] == citation["quote"]


def test_a_model_that_writes_no_sentence_says_that_the_corpus_does_not_say(
    mini_web: Path, quern_here: Quern, serve: Serve
) -> None:
    asked = quern_here("ask", "-w", mini_web, "--json", *serve(lambda number, body: says(body)).options(), QUESTION)
    answer = json.loads(asked.stdout)
    assert (answer["found"], answer["answer"], answer["by"]) == (False, "The corpus does not say.", "openai")


def test_what_no_line_bears_out_is_asked_for_again(mini_web: Path, quern_here: Quern, serve: Serve) -> None:
    def script(number: int, body: dict[str, Any]) -> Said:
        corrected = "cannot be used as it is" in body["messages"][-1]["content"]
        return says(body, "Edda Marsh" if corrected else "Captain Nemo, since 1987")

    endpoint = serve(script)
    answer = json.loads(quern_here("ask", "-w", mini_web, "--json", *endpoint.options(), QUESTION).stdout)
    _, again = to_answer(endpoint)
    assert "not in the documents: Captain Nemo, since 1987" in again["messages"][-1]["content"]
    assert (answer["sentences"][0]["text"], answer["by"]) == ("Edda Marsh", "openai")


def test_where_a_model_talks_nonsense_the_rule_stands_in_and_the_closing_line_counts_it(
    mini_web: Path, tmp_path: Path, quern_here: Quern, serve: Serve
) -> None:
    questions = tmp_path / "q.jsonl"
    texts = [QUESTION, "What did the Tollen Bridge cost?", "When did the first tram cross?"]
    questions.write_text("\n".join(json.dumps({"query_id": t, "question": t}) for t in texts))
    endpoint = serve(
        lambda number, body: (
            Said("no idea") if "Lady Orrin?" in str(body) else says(body, likely(body)[0] if is_to_answer(body) else "")
        )
    )
    answered = quern_here("answer", questions, "-w", mini_web, "--out", tmp_path / "model", *endpoint.options())
    assert "for 1 the rule stood in for the model" in answered.stdout, answered.stderr
    by_rules = quern_here("answer", questions, "-w", mini_web, "--out", tmp_path / "rules")
    assert "stood in" not in by_rules.stdout
    model, rules = (read_jsonl(tmp_path / name / "answers.jsonl") for name in ("model", "rules"))
    assert [a["by"] for a in model] == ["rules", "openai", "openai"]
    assert model[0] == rules[0]
    assert [a["probability"] for a in model] == [a["probability"] for a in rules]


def test_an_endpoint_that_is_gone_is_an_error_that_names_it(mini_web: Path, quern_here: Quern, serve: Serve) -> None:
    endpoint = serve(lambda number, body: says(body, "Edda Marsh"))
    endpoint.stop()
    asked = quern_here("ask", "-w", mini_web, *endpoint.options(tries=1, timeout=2), QUESTION)
    assert asked.returncode == 2
    assert endpoint.url in asked.stderr
