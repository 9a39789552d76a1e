from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from quern.indexes.search_files import SearchFiles


def filled(folder: Path) -> None:
    (folder / "vectors").write_text("v")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir()}


def test_a_folder_is_made_once_however_many_want_it(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        filled(folder)

    wanting = [threading.Thread(target=SearchFiles(tmp_path).made, args=("nodes-1-index", make)) for _ in range(4)]
    for one in wanting:
        one.start()
    for one in wanting:
        one.join()
    assert len(made) == 1
    assert (tmp_path / "search" / "nodes-1-index" / "vectors").read_text() == "v"


def test_what_could_not_be_made_leaves_nothing_and_is_made_the_next_time(tmp_path: Path) -> None:
    def broken(folder: Path) -> None:
        filled(folder)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        SearchFiles(tmp_path).made("nodes-1-index", broken)
    assert names(tmp_path / "search") == set()
    SearchFiles(tmp_path).made("nodes-1-index", filled)
    assert names(tmp_path / "search") == {"nodes-1-index"}


def test_what_a_killed_search_left_is_replaced(tmp_path: Path) -> None:
    (left := tmp_path / "search" / ".tmp-nodes-1-index").mkdir(parents=True)
    (left / "unsorted").write_text("half")
    folder = SearchFiles(tmp_path).made("nodes-1-index", filled)
    assert [path.name for path in folder.iterdir()] == ["vectors"]
    assert names(tmp_path / "search") == {"nodes-1-index"}


def test_folders_of_tables_that_are_gone_can_go_and_none_while_one_is_made(tmp_path: Path) -> None:
    files, new, old = SearchFiles(tmp_path), "a" * 64, "b" * 64
    for digest in (new, old):
        files.made(f"nodes-{digest[:32]}-index", filled)
    assert [one.path.name for one in files.remnants([new])] == [f"nodes-{old[:32]}-index"]

    def meanwhile(folder: Path) -> None:
        filled(folder)
        assert list(files.remnants([new])) == []

    SearchFiles(tmp_path).made("chunks-1-index", meanwhile)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_where_the_warehouse_cannot_be_written_they_are_temporary(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        files = SearchFiles(tmp_path)
        folder = files.made("nodes-1-index", filled)
        assert tmp_path not in folder.parents
        del files
        assert not folder.exists()
    finally:
        tmp_path.chmod(0o700)
