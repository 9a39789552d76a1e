"""Documents given as lines of JSON."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.jobs.pages.archived import put, read, reasons

# ---- JSONL -----------------------------------------------------------------------------------------------


def test_documents_keep_their_line_and_get_an_address(tmp_path: Path) -> None:
    first = '  {"doc_id": "a", "text": "čaj", "group": 3}  '
    second = '{"doc_id": "b", "text": "", "url": "https://x.example/b", "title": null}'
    rows, rejects = read(put(tmp_path / "d.jsonl", f"\ufeff{first}\n\n{second}".encode()))
    assert rejects == []
    assert [(r["url"], r["warc_offset"], r["content_type"]) for r in rows] == [
        ("doc:a", 1, "application/json"),
        ("doc:b", 3, "application/json"),
    ]
    assert rows[0]["body"] == first.strip().encode()


@pytest.mark.parametrize("doc_id", ["a b", " a", "id/ä?#%20", "全角\u3000空白", "soft\u00adhyphen", "doc:a", "a\tb"])
def test_the_address_of_a_document_is_its_id_as_it_is(tmp_path: Path, doc_id: str) -> None:
    rows, rejects = read(put(tmp_path / "d.jsonl", json.dumps({"doc_id": doc_id, "text": "t"}).encode()))
    assert ([r["url"] for r in rows], rejects) == ([f"doc:{doc_id}"], [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{not json", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"[1]", "invalid_document"),
        (b'{"doc_id": "a"}', "missing_field"),
        (b'{"text": "a"}', "missing_field"),
        (b'{"doc_id": "a", "text": 3}', "wrong_type"),
        (b'{"doc_id": true, "text": "a"}', "wrong_type"),
        (b'{"doc_id": 1.5, "text": "a"}', "wrong_type"),
        (b'{"doc_id": " ", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "\\ud800", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "a\\nb", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "a\\u0000b", "text": "a"}', "bad_doc_id"),
        (b'{"doc_id": "a", "text": "' + b"x" * 300_000 + b'"}', "too_large"),
    ],
)
def test_a_bad_line_is_rejected_by_number_and_the_next_is_read(tmp_path: Path, line: bytes, reason: str) -> None:
    good = b'{"doc_id": "good", "text": "t"}'
    rows, rejects = read(put(tmp_path / "d.jsonl", good + b"\n" + line + b"\n" + good), max_page_bytes=200_000)
    assert reasons(rejects) == {"d.jsonl:2": reason}
    assert [r["warc_offset"] for r in rows] == [1, 3]


def test_a_truncated_jsonl_gz_keeps_its_whole_lines(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"doc_id": str(i), "text": os.urandom(50).hex()}) for i in range(200))
    rows, rejects = read(put(tmp_path / "d.jsonl.gz", gzip.compress(lines.encode())[:-2000]))
    assert 100 < len(rows) < 200
    assert [r.reason for r in rejects] == ["truncated_gzip"]
    assert rejects[0].key == f"d.jsonl.gz:{len(rows) + 1}"
