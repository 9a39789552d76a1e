"""Files of datasets with several documents a question, as documents to build of and questions to measure with.

hotpotqa      HotpotQA (arXiv 1809.09600) and 2WikiMultihopQA (arXiv 2011.01060): `context`, `supporting_facts`
musique       MuSiQue (arXiv 2108.00573): `paragraphs`
multihop-rag  MultiHop-RAG (arXiv 2401.15391): `query` with `evidence_list`; its corpus has objects with `body`

JSON lines, arrays of JSON, and Parquet with the same columns. The form is known by an object's fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from quern.indexes.storage import write_whole
from quern.jobs.pages.formats.jsonl import UnreadableValueError, json_values
from quern.schemas.digests import text_digest
from quern.schemas.errors import QuernError

_LONGEST: Final = 16 << 20  # Bytes of one object; the longest of MuSiQue has some 30 KB.
_ID_LENGTH: Final = 20  # Hexadecimal digits: no two of 10^9 paragraphs share 80 bits, but with probability 4e-7.
_ROWS: Final = 256

Document = dict[str, Any]
Converted = tuple[list[Document], Document | None]
"""Documents, and the question, if it is one."""


class DatasetError(QuernError):
    """A file that is of no dataset; the message names file and line, and says why."""


def convert(files: Sequence[Path], out: Path) -> dict[str, int]:
    """Write `documents.jsonl` and `questions.jsonl` to `out`; a document that several questions have stands there once.

    Args:
        files: Of one dataset. They are read as streams: memory holds a digest of each document.
        out: A folder; made where it is missing.

    Returns:
        Numbers of `documents` and `questions`.

    Raises:
        DatasetError: A file cannot be read, an object is of no known form, or there is no question or no document.
    """
    counts = {"documents": 0, "questions": 0}

    def write_questions(path: Path) -> None:
        with path.open("w", encoding="utf-8") as questions:
            write_whole(out / "documents.jsonl", lambda path: _write(files, path, questions, counts))

    write_whole(out / "questions.jsonl", write_questions)
    return counts


def _write(files: Sequence[Path], path: Path, questions: TextIO, counts: dict[str, int]) -> None:
    seen: set[str] = set()
    with path.open("w", encoding="utf-8") as documents:
        for file in files:
            for line, record in _objects(file):
                rows, question = _converted(file, line, record)
                for document in rows:
                    key = document.get("doc_id") or document["url"]
                    if key not in seen:
                        seen.add(key)
                        counts["documents"] += 1
                        documents.write(json.dumps(document, ensure_ascii=False) + "\n")
                if question:
                    counts["questions"] += 1
                    question.setdefault("query_id", f"{file.stem}-{counts['questions']}")
                    questions.write(json.dumps(question, ensure_ascii=False) + "\n")
    if missing := [name for name, count in counts.items() if not count]:
        raise DatasetError(f"no {missing[0]} in {', '.join(map(str, files))}: name all files of the dataset")


def _objects(file: Path) -> Iterator[tuple[int, Any]]:
    """Objects of a file by their first line, or by their row."""
    try:
        if file.suffix == ".parquet":
            batches = pq.ParquetFile(file).iter_batches(_ROWS)
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), 1)
            return
        with file.open("rb") as stream:
            yield from ((line, value) for line, value, _ in json_values(stream, _LONGEST))
    except UnreadableValueError as error:
        raise DatasetError(f"{file}:{error.line}: {error}") from None
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{file} cannot be read: {error}") from None


def _converted(file: Path, line: int, record: Any) -> Converted:
    fields = frozenset(record) if isinstance(record, dict) else frozenset()
    form = next((convert for needed, convert in _FORMS.items() if fields.issuperset(needed)), None)
    if form is None:
        forms = "; ".join(", ".join(needed) for needed in _FORMS)
        raise DatasetError(f"{file}:{line}: an object of no known dataset; one of these has the fields {forms}")
    try:
        return form(record)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DatasetError(f"{file}:{line}: {type(error).__name__} {error} in {', '.join(sorted(fields))}") from None


def _paragraph(title: str, text: str) -> Document:
    return {"doc_id": text_digest(f"{title}\n{text}")[:_ID_LENGTH], "title": title, "text": text}


def _hotpotqa(record: Mapping[str, Any]) -> Converted:
    context, facts = record["context"], record["supporting_facts"]
    if isinstance(context, dict):  # As the hub's Parquet has it: columns.
        context, facts = zip(context["title"], context["sentences"], strict=True), zip(facts["title"], strict=True)
    # HotpotQA's sentences begin with their space, those of 2WikiMultihopQA do not.
    documents = [_paragraph(title, " ".join(" ".join(sentences).split())) for title, sentences in context]
    titles = {title for title, *_ in facts}
    evidence = [document["doc_id"] for document in documents if document["title"] in titles]
    return documents, {
        "query_id": record.get("_id") or record["id"],
        "question": record["question"],
        "type": record.get("type"),
        "answer": record.get("answer"),
        "evidence_doc_ids": evidence,
    }


def _musique(record: Mapping[str, Any]) -> Converted:
    documents = [_paragraph(one["title"], one["paragraph_text"]) for one in record["paragraphs"]]
    answerable = record.get("answerable", True)
    pairs = zip(documents, record["paragraphs"], strict=True)
    return documents, {
        "query_id": record["id"],
        "question": record["question"],
        "type": record["id"].split("__")[0] if answerable else "null",
        "answer": record.get("answer") if answerable else "",
        "answer_aliases": record.get("answer_aliases") or [],
        "evidence_doc_ids": [document["doc_id"] for document, one in pairs if answerable and one["is_supporting"]],
    }


def _multihop_rag_question(record: Mapping[str, Any]) -> Converted:
    null = record["question_type"] == "null_query"
    return [], {
        "question": record["query"],
        "type": "null" if null else record["question_type"],
        "answer": "" if null else record["answer"],
        "evidence_urls": list(dict.fromkeys(one["url"] for one in record["evidence_list"])),
    }


def _multihop_rag_document(record: Mapping[str, Any]) -> Converted:
    fields = {"title": "title", "author": "author", "site_name": "source", "published_at": "published_at"}
    document = {"url": str(record["url"]), "text": record["body"], "metadata": {"category": record.get("category")}}
    return [document | {name: record[of] for name, of in fields.items() if record.get(of)}], None


_FORMS: Final[Mapping[tuple[str, ...], Callable[[Mapping[str, Any]], Converted]]] = {
    ("context", "supporting_facts", "question"): _hotpotqa,
    ("paragraphs", "question"): _musique,
    ("query", "evidence_list", "question_type"): _multihop_rag_question,
    ("url", "body"): _multihop_rag_document,
}
"""Fields by which an object's form is known."""
