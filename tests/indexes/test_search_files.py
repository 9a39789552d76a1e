from __future__ import annotations

import threading
from pathlib import Path

import pytest

from quern.indexes.search_files import SearchFiles


def filled(folder: Path) -> None:
    (folder / "vectors").write_text("v" * 9)


def content(folder: Path) -> str:
    return (folder / "vectors").read_text()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir()}


@pytest.mark.parametrize("damaged", [False, True])
def test_a_folder_is_made_once_however_many_want_it(tmp_path: Path, damaged: bool) -> None:
    made: list[Path] = []
    found: list[str | None] = []

    def make(folder: Path) -> None:
        made.append(folder)
        filled(folder)

    def want() -> None:
        found.append(SearchFiles(tmp_path).opened("nodes-1-index", make, content))

    if damaged:
        SearchFiles(tmp_path).opened("nodes-1-index", filled, content)
        (tmp_path / "search" / "nodes-1-index" / "vectors").write_text("")
    wanting = [threading.Thread(target=want) for _ in range(4)]
    for one in wanting:
        one.start()
    for one in wanting:
        one.join()
    assert (len(made), found) == (1, ["v" * 9] * 4)


@pytest.mark.parametrize("damage", ["", "x" * 9, None])
@pytest.mark.parametrize("file", ["vectors", "files.json"])
def test_a_damaged_folder_is_made_again(tmp_path: Path, file: str, damage: str | None) -> None:
    files = SearchFiles(tmp_path)
    files.opened("nodes-1-index", filled, content)
    path = files.folder / "nodes-1-index" / file
    path.unlink()
    if damage is not None:
        path.write_text(damage)
    assert files.opened("nodes-1-index", filled, content) == "v" * 9


def test_what_could_not_be_made_leaves_nothing_and_is_made_the_next_time(tmp_path: Path) -> None:
    def broken(folder: Path) -> None:
        filled(folder)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        SearchFiles(tmp_path).opened("nodes-1-index", broken, content)
    assert names(tmp_path / "search") == set()
    SearchFiles(tmp_path).opened("nodes-1-index", filled, content)
    assert names(tmp_path / "search") == {"nodes-1-index"}


def test_what_a_killed_search_left_is_replaced(tmp_path: Path) -> None:
    (left := tmp_path / "search" / ".tmp-nodes-1-index").mkdir(parents=True)
    (left / "unsorted").write_text("half")
    assert SearchFiles(tmp_path).opened("nodes-1-index", filled, lambda folder: folder.name) == "nodes-1-index"
    assert names(tmp_path / "search") == {"nodes-1-index"}


def test_folders_of_tables_that_are_gone_can_go_and_none_that_is_being_made(tmp_path: Path) -> None:
    files, new, old = SearchFiles(tmp_path), "a" * 64, "b" * 64
    for digest in (new, old):
        files.opened(f"nodes-{digest[:32]}-index", filled, content)
    left = f".tmp-chunks-{new[:32]}-index"
    (files.folder / left).mkdir()
    gone = f"nodes-{old[:32]}-index"
    assert [one.path.name for one in files.remnants([new])] == [gone, left]

    def meanwhile(folder: Path) -> None:
        filled(folder)
        assert [one.path.name for one in files.remnants([new])] == [gone]

    SearchFiles(tmp_path).opened("chunks-1-index", meanwhile, content)


def test_a_warehouse_that_cannot_be_written_is_read_where_its_folder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SearchFiles(tmp_path).opened("nodes-1-index", filled, content)
    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    assert SearchFiles(tmp_path).opened("nodes-1-index", filled, content) == "v" * 9
    assert SearchFiles(tmp_path).opened("nodes-2-index", filled, content) is None
