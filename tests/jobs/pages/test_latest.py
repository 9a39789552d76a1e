"""One row per address: which capture stays."""

from __future__ import annotations

import json
import os
from pathlib import Path

from quern.jobs.pages.ingest import Reading, Span, batched
from quern.jobs.pages.inputs import find_inputs, of_path
from quern.jobs.pages.latest import latest_captures
from quern.jobs.pages.reading import read_task
from quern.schemas.settings import IngestSettings
from tests.jobs.pages.archived import HTML, http, put, reasons, warc

# ---- batches and duplicates ------------------------------------------------------------------------------


def test_batches_are_bounded_in_rows_and_bytes(tmp_path: Path) -> None:
    (given,) = of_path(put(tmp_path / "a.html", HTML))
    rows = list(Reading(Span(given, 0, given.size), IngestSettings())) * 10
    assert [b.num_rows for b in batched(iter(rows), batch_rows=4)] == [4, 4, 2]
    assert [b.num_rows for b in batched(iter(rows), batch_bytes=len(HTML) * 3)] == [3, 3, 3, 1]


def latest(root: Path, staged: Path) -> tuple[list[dict], dict[str, str]]:
    """Rows and rejects of what `root` holds, one row per address."""
    (given,) = of_path(root)
    part = read_task((Span(given, 0, given.size),), IngestSettings(), staged)
    (found,) = latest_captures([part])
    return [row for batch in found.pages() for row in batch.to_pylist()], reasons(list(found.rejects()))


def test_earlier_captures_become_rejects_with_their_place(tmp_path: Path) -> None:
    records = warc(*(("http://x.example/", http(HTML), f"2024-05-0{day}T00:00:00Z") for day in (2, 3, 1)))
    kept, rejects = latest(put(tmp_path / "w.warc", b"".join(records)), tmp_path / "parts")
    assert [r["warc_offset"] for r in kept] == [len(records[0])]
    assert rejects == dict.fromkeys(("w.warc@0", f"w.warc@{len(records[0] + records[1])}"), "duplicate_url")


def test_documents_that_share_an_address_stay_and_the_last_of_an_id_replaces_the_others(tmp_path: Path) -> None:
    given = [("a", "https://x.example/"), ("b", "https://x.example/"), ("a", "https://y.example/")]
    lines = "\n".join(json.dumps({"doc_id": doc_id, "text": "t", "url": url}) for doc_id, url in given)
    kept, rejects = latest(put(tmp_path / "d.jsonl", lines.encode()), tmp_path / "parts")
    assert [(r["url"], r["warc_offset"]) for r in kept] == [("doc:b", 2), ("doc:a", 3)]
    assert rejects == {"d.jsonl:1": "duplicate_doc_id"}


def versions(tmp_path: Path, *sources: str) -> tuple[set[str], dict[str, tuple[str, str]]]:
    """Files of the rows that stay of what `sources` in `tmp_path` hold, and reason and detail of each reject."""
    given = find_inputs([tmp_path / source for source in sources])
    part = read_task(tuple(Span(file, 0, file.size) for file in given), IngestSettings(), tmp_path / "parts")
    (found,) = latest_captures([part])
    kept = {Path(row["source_file"]).name for batch in found.pages() for row in batch.to_pylist()}
    return kept, {Path(r.key).name: (r.reason, r.detail.replace(f"{tmp_path}/in/", "")) for r in found.rejects()}


def document(path: Path, text: str, changed: int, doc_id: str = "tide") -> None:
    put(path, json.dumps({"doc_id": doc_id, "text": text}).encode() + b"\n")
    os.utime(path, (changed, changed))


def test_the_source_that_is_named_last_holds_the_later_version(tmp_path: Path) -> None:
    document(tmp_path / "in/a.jsonl", "Tide at nine.", 200)
    document(tmp_path / "in/b.jsonl", "Tide at ten.", 100)
    for sources, kept in (
        (("in/a.jsonl", "in/b.jsonl"), "b.jsonl"),
        (("in/b.jsonl", "in/a.jsonl"), "a.jsonl"),
        (("in/a.jsonl", "in"), "a.jsonl"),  # Both are in the last one.
        (("in", "in/b.jsonl"), "b.jsonl"),
    ):
        stay, rejects = versions(tmp_path, *sources)
        assert stay == {kept}
        assert [reason for reason, _ in rejects.values()] == ["duplicate_doc_id"]


def test_of_one_folder_the_file_that_was_changed_last_holds_the_later_version(tmp_path: Path) -> None:
    for earlier, later in (("a", "b"), ("b", "a")):
        document(tmp_path / f"in/{earlier}.jsonl", "Tide at nine.", 100)
        document(tmp_path / f"in/{later}.jsonl", "Tide at ten.", 101)
        assert versions(tmp_path, "in")[0] == versions(tmp_path, "in/*.jsonl")[0] == {f"{later}.jsonl"}


def test_where_nothing_says_which_version_is_later_the_reject_says_so_and_names_have_no_say(tmp_path: Path) -> None:
    kept = set()
    for folder, (nine, ten) in {"x": ("a", "b"), "y": ("b", "a")}.items():
        document(tmp_path / f"{folder}/in/{nine}.jsonl", "Tide at nine.", 100)
        document(tmp_path / f"{folder}/in/{ten}.jsonl", "Tide at ten.", 100)
        (stays,), rejects = versions(tmp_path / folder, "in")
        ((lost, (reason, detail)),) = rejects.items()
        kept.add(stays == f"{nine}.jsonl")
        assert reason == "undecided_version"
        assert f"{lost} and {stays} have the same doc_id" in detail
        assert "modified_at" in detail
    assert len(kept) == 1


def test_a_page_that_was_gone_later_leaves_unless_it_was_seen_again(tmp_path: Path) -> None:
    def seen(name: str, day: int, status: int = 200, kind: str = "response") -> bytes:
        url, when = f"http://x.example/{name}", f"2024-05-{day:02d}T00:00:00Z"
        return warc((url, http(HTML, status=status), when), kind=kind)[0]

    content = [
        *(seen("gone", 1), seen("gone", 3, 404)),
        *(seen("back", 2, 410), seen("back", 3)),
        *(seen("unchanged", 1), seen("unchanged", 2, 404), seen("unchanged", 3, 304, "revisit")),
        *(seen("broken", 1), seen("broken", 2, 500)),
    ]
    kept, rejects = latest(put(tmp_path / "w.warc", b"".join(content)), tmp_path / "parts")
    assert [r["url"].rpartition("/")[2] for r in kept] == ["back", "unchanged", "broken"]
    assert rejects == {"w.warc@0": "gone"}


def test_a_revisit_of_a_page_that_no_archive_has_is_told_of(tmp_path: Path) -> None:
    url = "http://x.example/elsewhere"
    content = warc((url, http(HTML, status=304), "2024-05-03T00:00:00Z"), kind="revisit")
    kept, rejects = latest(put(tmp_path / "w.warc", b"".join(content)), tmp_path / "parts")
    assert kept == []
    assert rejects == {url: "revisit_without_capture"}
