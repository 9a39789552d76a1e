from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from quern.indexes.checksums import write_sealed
from quern.indexes.stages import INDEX, Stage
from quern.jobs.audit.checks import Audit, Check
from quern.jobs.audit.validation import audit, check_figures, expected_of
from quern.jobs.audit.views import View
from quern.jobs.engines import Engines
from quern.schemas.contract.expectations import (
    LOST,
    RECALL,
    SHARES,
    Between,
    Expectation,
    Greater,
    Known,
    KnownShare,
    Limits,
    OneOf,
    References,
)
from quern.schemas.settings import AuditSettings
from quern.schemas.tables import TABLES, Table
from tests.conftest import ROOT

NOW = datetime(2024, 6, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=2)
TEXT = "The quay of Marrow Head was mended in spring. " * 4
DECLARED = {name: table.with_dimension(2) for name, table in TABLES.items() if table.pinned}
Row = dict[str, Any]

SOUND: dict[str, list[Row]] = {
    "pages": [{"url": f"https://tides.example/{i}", "body": b"x", "status": 200} for i in range(3)],
    "documents": [
        {"doc_id": f"d{i}", "page_url": f"https://tides.example/{i}", "text": TEXT, "language": "en"} for i in range(3)
    ],
    "chunks": [
        {"chunk_id": f"d{i}-0", "doc_id": f"d{i}", "text": TEXT[7:16], "start": 7, "end": 16, "vector": [0.6, 0.8]}
        for i in range(3)
    ],
    "queries": [{"query_id": f"d{i}-0-0", "chunk_id": f"d{i}-0", "similarity": 0.5} for i in range(3)],
    "nodes": [{"query_id": f"d{i}-0-0", "chunk_id": f"d{i}-0", "vector": [0.0, 1.0]} for i in range(2)],
    "edges": [
        {"source": "d0-0-0", "target": "d1-0-0", "kind": "neighbour", "similarity": 0.5},
        {"source": "d1-0-0", "target": "d0-0-0", "kind": "neighbour", "similarity": 0.5},
    ],
    "communities": [{"community_id": "c", "level": 0, "chunk_count": 2}],
    "events": [
        {"event_id": "e", "chunk_id": "d0-0", "doc_id": "d0", "start": 7, "end": 16, "vector": [1.0, 0.0]}
        | {"precision": "day", "date_from": "text"}
    ],
    "timelines": [{"timeline_id": "t", "kind": "site", "granularity": "day", "event_count": 2}],
    "triplets": [
        {"triplet_id": "t", "chunk_id": "d0-0", "doc_id": "d0", "end": 16, "how": "sentence"}
        | {f"{part}_end": 3 for part in ("subject", "relation", "object")}
    ],
    "entities": [{"entity_id": "e", "fact_count": 1}],
    "images": [{"image_id": "i", "doc_id": "d0", "width": 3, "height": 4, "out_by": "icon"}],
    "sources": [{"site": "tides.example", "documents": 3, "evidence": 0}],
    "rejects": [{"job": "clean", "key": "https://tides.example/9", "reason": "no_text"}],
}
SOUND_SHARES = {LOST: 0.1, "clean": 0.2}

# For expectations of one row's values that no row of `broken` breaks alone: what a further row of its table holds.
BAD_ROWS: dict[str, Row] = {
    "documents.text_length between": {"text": ""},
    "documents.modified_at between": {"modified_at": datetime(1899, 12, 31, tzinfo=UTC)},
    "chunks.start between": {"start": -1, "end": 8},
    "chunks.end greater": {"text": "", "start": 7, "end": 7},
    "chunks spans": {"end": 17},
    "chunks.vector_norm between": {"vector": [0.5, 0.5]},
    "queries.similarity between": {"similarity": float("nan")},
    "nodes.vector_norm between": {"vector": [float("nan"), 0.0]},
    "events.vector_norm between": {"vector": [0.0, 0.0]},
}
REFERRED = ("pages", "documents", "chunks", "queries", "nodes")
# A node is the query of its key, so a further node needs a query that has none yet.
NEW_KEYS: dict[str, Row] = {"nodes": {"query_id": "d2-0-0"}, "edges": {"rank": 7}}
# Columns that no other expectation looks at.
OTHER_TYPE = {
    "pages": "etag", "documents": "author", "chunks": "title", "queries": "answer", "nodes": "text", "edges": "rank",
    "communities": "digest", "events": "timex", "timelines": "digest", "triplets": "subject", "entities": "digest",
    "images": "alt", "sources": "name", "rejects": "detail",
}  # fmt: skip
# Violations of whole tables, beside those of columns, types and keys that every table has: rows of the table.
BAD_TABLES: dict[str, list[Row]] = {
    "documents.text_length quantiles": [row | {"text": "Short."} for row in SOUND["documents"]],
    "documents.duplicate_of duplicates share": [
        SOUND["documents"][0],
        *(row | {"duplicate_of": "d0"} for row in SOUND["documents"][1:]),
    ],
    **{f"{name} not_empty": [] for name in ("pages", "documents", "chunks", "nodes")},
}
# What must fail too: other tables refer to the rows that are gone, or another expectation counts them.
_SINCE, _LOST = "rows since the last snapshot", "documents lost since the last build"
CONSEQUENCES: dict[str, set[str]] = {
    "pages not_empty": {f"pages {_SINCE}", "documents.page_url references pages"},
    "documents not_empty": {
        f"documents {_SINCE}",
        _LOST,
        "documents.text_length quantiles",
        "documents.language known_share",
        "chunks.doc_id references documents",
        "images.doc_id references documents",
        "events.doc_id references documents",
        "triplets.doc_id references documents",
    },
    "chunks not_empty": {
        f"chunks {_SINCE}",
        *(f"{name}.chunk_id references chunks" for name in ("queries", "nodes", "events", "triplets")),
    },
    "nodes not_empty": {f"nodes {_SINCE}", "edges.source references nodes", "edges.target references nodes"},
    f"documents {_SINCE}": {_LOST},
    _LOST: {f"documents {_SINCE}"},
}
SETTINGS = AuditSettings(languages=("en",), earliest_year=1900)


def limits(**before: int) -> Limits:
    return Limits(SETTINGS, NOW, {name: len(rows) for name, rows in SOUND.items()} | before)


def filled(table: Table, row: Row) -> Row:
    """`row` with a value for every column that must have one."""
    plain: dict[Any, Any] = {pa.string(): "x", pa.int64(): 1, pa.int32(): 1, pa.bool_(): True, pa.binary(): b""}
    made: Row = {}
    for field in table.schema:
        empty = NOW if pa.types.is_timestamp(field.type) else plain.get(field.type, [])
        made[field.name] = None if field.nullable else empty
    return made | row


def stage_of(path: Path, table: Table, rows: list[Row]) -> Stage:
    schema = pa.schema([f.with_nullable(True) for f in table.schema])
    pq.write_table(pa.Table.from_pylist([filled(table, row) for row in rows], schema=schema), path)
    return Stage(table, path, len(rows), "")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stage]:
    folder = tmp_path_factory.mktemp("sound")
    return {n: stage_of(folder / f"{n}.parquet", DECLARED[n], rows) for n, rows in SOUND.items()}


def failed(checks: Audit) -> set[str]:
    return {c.expectation for c in checks.checks if not c.passed}


def declared() -> dict[str, list[str]]:
    tables = {name: [e.name(name) for e in expected_of(table, limits(), DECLARED)] for name, table in DECLARED.items()}
    return tables | {SHARES: [c.expectation for c in check_figures(SOUND_SHARES, limits())]}


def broken(expected: Expectation, row: Row) -> Row | None:
    """What a row holds that breaks the expectation; None where it is none of one row's values."""
    match expected:
        case Known() | KnownShare():
            return {expected.column: None}
        case References():
            return {expected.column: f"not among {expected.target}"}
        case OneOf():
            return {expected.column: "none of them"}
        case Greater():
            return {expected.column: row[expected.than]}
        case Between(least=datetime()):
            return {expected.column: LATER}
        case Between():
            return {expected.column: expected.least - 1}
    return None


def violated(name: str, table: Table, path: Path) -> Stage | None:
    """The table with the violation of the expectation `name` planted; None where it is none of a table's content."""
    rows = SOUND[table.name]
    further = rows[0] | {table.key[0]: f"{rows[0][table.key[0]]}?"} | NEW_KEYS.get(table.name, {})
    if table.name == "edges":
        further["source"] = rows[0]["source"]
    expected = next(e for e in expected_of(table, limits(), DECLARED) if e.name(table.name) == name)
    bad = BAD_ROWS.get(name) or broken(expected, filled(table, further))
    if bad and name not in BAD_TABLES:
        return stage_of(path, table, [*rows, further | bad])
    if name in BAD_TABLES:
        return stage_of(path, table, BAD_TABLES[name])
    if name == f"{table.name} unique_keys":
        return stage_of(path, table, [*rows, rows[0]])
    stage = stage_of(path, table, rows)
    whole = pq.read_table(path)
    if name == f"{table.name} columns":
        pq.write_table(whole.append_column("surprise", pa.nulls(len(whole))), path)
    elif name == f"{table.name} types":
        at = whole.schema.names.index(OTHER_TYPE[table.name])
        column = whole.column(at)
        other = pa.int64() if pa.types.is_integer(column.type) else pa.binary()
        pq.write_table(whole.set_column(at, OTHER_TYPE[table.name], column.cast(other)), path)
    else:
        return None
    return stage


def rounds() -> Iterator[list[str]]:
    """Names of expectations, at most one of each table in a round, so that one audit tries many."""
    left = [list(names) for names in declared().values()]
    while any(left):
        yield [names.pop() for names in left if names]


def test_sound_tables_pass_every_expectation(sound: dict[str, Stage]) -> None:
    found = audit(sound, SOUND_SHARES, limits())
    assert failed(found) == set()
    assert {c.table for c in found.checks} == {*DECLARED, SHARES}
    assert found.checks[0].table == SHARES, "a cause comes before what follows from it"
    assert not [c for c in found.checks if c.skipped]


@pytest.mark.parametrize("names", rounds(), ids=lambda names: names[0])
def test_a_planted_violation_fails_its_expectation_and_no_other(
    names: list[str], sound: dict[str, Stage], tmp_path: Path
) -> None:
    subjects = {name: name.split(" ")[0].split(".")[0] for name in names}
    stages = {t: sound[t] for t in sound if t in REFERRED or t in subjects.values()}
    shares, before = dict(SOUND_SHARES), {}
    for name, table in subjects.items():
        if name.endswith("rejected share"):
            shares[table] = 0.6
        elif " since the last " in name:
            before[table] = 1000
        else:
            stage = violated(name, DECLARED[table], tmp_path / f"{table}.parquet")
            assert stage is not None, f"no violation is planted for {name}"
            stages[table] = stage
    found = audit(stages, shares, limits(**before))
    caused = set().union(*(CONSEQUENCES.get(name, set()) for name in names))
    assert set(names) <= failed(found)
    assert failed(found) <= {*names, *caused}


def test_what_a_corpus_may_be_like_warns_and_what_makes_an_index_wrong_is_critical(
    sound: dict[str, Stage], tmp_path: Path
) -> None:
    dated = [*SOUND["documents"], SOUND["documents"][0] | {"doc_id": "late", "published_at": LATER}]
    warned = audit(sound | {"documents": stage_of(tmp_path / "d", DECLARED["documents"], dated)}, {}, limits())
    warnings = [c.expectation for c in warned.failures("warning")]
    assert (warned.failures(), warnings) == ([], ["documents.published_at between"])
    shrunk = audit(sound, {}, limits(documents=5))
    assert failed(shrunk) == set()
    settings = SETTINGS.model_copy(update={"max_row_change": 0.2})
    fewer = audit(sound, {}, Limits(settings, NOW, {"documents": 5}))
    assert (fewer.failures(), failed(fewer)) == ([], {f"documents {_SINCE}"})


def test_what_was_found_is_told_with_examples(sound: dict[str, Stage], tmp_path: Path) -> None:
    edges = stage_of(tmp_path / "e", DECLARED["edges"], [*SOUND["edges"], SOUND["edges"][0] | {"target": "gone"}])
    found = audit({"nodes": sound["nodes"], "edges": edges}, {LOST: 0.6}, Limits(SETTINGS, NOW, shares={LOST: 0.0}))
    assert set(found.failures()) == {
        Check("edges unique_keys", "critical", False, "2 of 3 unexpected, such as " + KEY + ", " + KEY, "edges"),
        Check("edges.target references nodes", "critical", False, "1 of 3 unexpected, such as gone", "edges"),
        Check(
            "pages rejected share",
            "critical",
            False,
            "observed 0.6, expected 0 to 0.5 (audit.max_reject_share)",
            SHARES,
        ),
    }


def test_a_share_of_rejects_is_critical_where_all_is_lost_or_much_more_than_before() -> None:
    def severity(share: float, **before: float) -> str | None:
        (check,) = check_figures({LOST: share}, Limits(SETTINGS, NOW, shares=before))
        return None if check.passed else check.severity

    assert [severity(share) for share in (0.5, 0.6, 0.99, 1.0)] == [None, "warning", "warning", "critical"]
    assert [severity(share, pages=0.1) for share in (0.5, 0.54, 0.56, 1.0)] == [None, "warning", *["critical"] * 2]
    assert [severity(share, pages=0.6) for share in (0.5, 0.79, 0.81)] == [None, "warning", "critical"]


def test_a_graph_that_finds_too_few_neighbours_is_not_published(sound: dict[str, Stage]) -> None:
    tables = {"nodes": sound["nodes"]}
    enough = audit(tables, {}, Limits(SETTINGS, NOW, measures={RECALL: 0.985}))
    assert "measures.link_recall between" in {c.expectation for c in enough.checks}
    assert failed(enough) == set()
    few = audit(tables, {}, Limits(SETTINGS, NOW, measures={RECALL: 0.9}))
    assert [c.expectation for c in few.failures()] == ["measures.link_recall between"]


KEY = "{'source': 'd0-0-0', 'kind': 'neighbour', 'rank': 1}"


def test_a_first_build_has_nothing_to_compare_with_and_says_so(sound: dict[str, Stage]) -> None:
    found = audit({"documents": sound["documents"]}, {}, Limits(SETTINGS, NOW))
    skipped = {c.expectation: (c.passed, c.observed) for c in found.checks if c.skipped}
    assert skipped == dict.fromkeys((f"documents {_SINCE}", _LOST), (True, "no snapshot to compare with"))
    assert not any("references" in c.expectation and "pages" in c.expectation for c in found.checks)


def test_a_column_that_is_gone_fails_columns_and_types_alone(sound: dict[str, Stage], tmp_path: Path) -> None:
    chunks = stage_of(tmp_path / "c", DECLARED["chunks"], SOUND["chunks"])
    pq.write_table(pq.read_table(chunks.path).drop_columns(["start", "vector"]), chunks.path)
    found = audit({"documents": sound["documents"], "chunks": chunks}, {}, limits())
    assert failed(found) == {"chunks columns", "chunks types"}
    skipped = {f"chunks{name}" for name in (".start between", ".end greater", " spans", ".vector_norm between")}
    assert {c.expectation for c in found.checks if c.skipped} == skipped
    told = {c.expectation: c.observed for c in found.checks}
    assert told["chunks.start between"] == "cannot be checked: chunks lacks the column"
    assert told["chunks types"] == "start is absent, vector is absent"


def test_a_column_of_another_type_fails_types_alone_and_does_not_stop_the_audit(tmp_path: Path) -> None:
    edges = stage_of(tmp_path / "e", DECLARED["edges"], SOUND["edges"])
    whole = pq.read_table(edges.path)
    pq.write_table(whole.set_column(2, "rank", pa.array([b"\xff", b"\xfe"])), edges.path)
    found = audit({"edges": edges}, {}, limits())
    assert failed(found) == {"edges types"}


def test_a_fault_of_the_machine_is_raised_and_blames_no_table(sound: dict[str, Stage], tmp_path: Path) -> None:
    gone = Stage(DECLARED["nodes"], tmp_path / "gone.parquet", 1, "")
    with pytest.raises(FileNotFoundError):
        audit({"nodes": gone}, {}, limits())


@pytest.mark.long
def test_spark_and_arrow_find_the_same(sound: dict[str, Stage], tmp_path: Path, spark: Engines) -> None:
    further = {
        "chunk_id": "further",
        "doc_id": "gone",
        "end": 20,
        "text": "数据",
        "token_count": 0,
        "vector": [0.5, 0.5],
    }
    chunks = [*SOUND["chunks"], SOUND["chunks"][0], SOUND["chunks"][0] | further]
    documents = [*SOUND["documents"], SOUND["documents"][0] | {"doc_id": None, "published_at": LATER, "language": "fr"}]
    edges = [*SOUND["edges"], SOUND["edges"][0], SOUND["edges"][0] | {"rank": -1, "similarity": 1.5}]
    folder = tmp_path / "a [b] {c}"
    folder.mkdir()
    stages = {
        "documents": stage_of(folder / "d", DECLARED["documents"], documents),
        "chunks": stage_of(folder / "c", DECLARED["chunks"], chunks),
        "edges": stage_of(folder / "e", DECLARED["edges"], edges),
    }
    session = spark.spark().session()  # type: ignore[union-attr]
    session.conf.set("spark.sql.codegen.wholeStage", "false")  # Compiling takes longer than these few rows.
    try:
        by_spark = audit(stages, {LOST: 0.6}, limits(documents=1000), session)
    finally:
        session.conf.unset("spark.sql.codegen.wholeStage")
    by_arrow = audit(stages, {LOST: 0.6}, limits(documents=1000))
    assert len(failed(by_arrow)) >= 12
    assert list(by_spark.checks) == list(by_arrow.checks)


def test_the_library_counts_no_uses_calls_nobody_and_leaves_no_files(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import socket\n"
        "def refuse(*_):\n"
        "    raise AssertionError('a connection was tried')\n"
        "socket.socket.connect = socket.create_connection = refuse\n"
        "import os\n"
        "from quern.jobs.audit.spark_audit import memory_context\n"
        "context = memory_context()\n"
        "print(os.environ['GX_ANALYTICS_ENABLED'], context.variables.analytics_enabled, context.root_directory)\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {"PATH": "", "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=home, env=environment)
    assert (done.stdout.split(), done.stderr) == (["false", "False", "None"], "")
    assert list(home.iterdir()) == []


def test_the_library_is_imported_in_one_place_only_where_its_switches_are_set() -> None:
    importing = [
        path.relative_to(ROOT).as_posix()
        for room in ("schemas", "indexes", "jobs", "pipelines")
        for path in (ROOT / room).rglob("*.py")
        if any(line.lstrip().startswith(("import great_exp", "from great_exp")) for line in path.open())
    ]
    assert importing == ["jobs/audit/spark_audit.py"]


def test_a_column_whose_type_differs_between_files_has_neither(tmp_path: Path) -> None:
    for name, kind in (("a.parquet", pa.int32()), ("b.parquet", pa.int64())):
        pq.write_table(pa.table({"rank": pa.array([1], kind), "url": ["u"]}), tmp_path / name)
    write_sealed(tmp_path / INDEX, {"files": {f"{n}.parquet": {"rows": 1, "checksum": ""} for n in "ab"}})
    view = View("pages", tmp_path)
    assert view.types() == {"rank": "int32 and int64", "url": "string"}
    assert view.rows == 2
