"""What differs between two snapshots, by the function, the command and the Python API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import quern
from quern.indexes.catalog import Warehouse
from quern.schemas.tables import DOCUMENTS
from tests.conftest import Quern
from tests.tables import publish

FIRST, SECOND, THIRD = "20240630T020000000", "20240701T020000000", "20240702T020000000"
MILL = {"mill": ("The mill", "It grinds rye."), "quay": ("The quay", "It is wet."), "dyke": (None, "It holds.")}


def documents(warehouse: Warehouse, build_id: str, told: dict[str, tuple[str | None, str]]) -> None:
    """A build of documents alone."""
    rows = [
        {"doc_id": key, "page_url": f"doc:{key}", "url": f"https://a.example/{key}"}
        | {"title": title, "text": text, "digest": text}
        for key, (title, text) in told.items()
    ]
    publish(warehouse, build_id, {DOCUMENTS: rows})


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    warehouse = Warehouse.create(tmp_path_factory.mktemp("diff") / "wh")
    documents(warehouse, FIRST, MILL)
    documents(warehouse, SECOND, MILL)
    gone = {key: value for key, value in MILL.items() if key != "dyke"}
    documents(warehouse, THIRD, gone | {"mill": ("The old mill", "It grinds rye."), "lock": ("The lock", "It opens.")})
    return warehouse.root


def test_documents_are_named_with_what_changed_of_them(root: Path, quern_here: Quern) -> None:
    shown = quern_here("diff", "-w", root).stdout.splitlines()
    assert shown[0] == f"{SECOND} -> {THIRD}"
    assert shown[2].split() == ["documents", "3", "3", "1", "1", "1"]
    assert shown[4:] == [
        "documents",
        "+ The lock https://a.example/lock",
        "~ The old mill https://a.example/mill (title)",
        "- (no title) https://a.example/dyke",
    ]
    limited = json.loads(quern_here("diff", FIRST, "current", "-w", root, "--limit", "1", "--json").stdout)
    assert limited["tables"]["documents"]["changes"] == {"added": 1, "changed": 1, "removed": 1}
    backwards = quern.diff(root, "current", "previous", tables=["documents"], limit=None)
    assert [row.change for row in backwards.tables["documents"].rows] == ["added", "changed", "removed"]
    assert backwards.tables["documents"].rows[0].key == {"doc_id": "dyke"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("20240703T02", "current"), f"there is no snapshot 20240703T02 in {{root}}; did you mean {THIRD}?"),
        (("current", "previous", "--table", "pages"), "there is no table 'pages'; there are: documents"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest(
    root: Path, quern_here: Quern, words: tuple[str, ...], told: str
) -> None:
    refused = quern_here("diff", *words, "-w", root)
    assert refused.returncode == 2
    assert told.format(root=root) in refused.stderr
