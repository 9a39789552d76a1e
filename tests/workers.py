"""How the tests of a session are put in order and shared out, and what its processes tell one another.

With pytest-xdist, `-n 2`, one process hands the tests out to workers. Without it the process of the tests does all.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.beside import BUILDS, MINI_WEB, Builds

_BUILDS = pytest.StashKey[Builds]()
# Objects that come to be, and collections, between two collections of the young, the middle and the old. By Python's
# own numbers a fifth of the time of tests that only compute went into them, as the objects of all tests stay.
_COLLECTIONS: Final = (20_000, 20, 20)


def builds(config: pytest.Config) -> Builds:
    """The builds beside the tests of this session; a worker is told where they are."""
    if _BUILDS not in config.stash:
        given = getattr(config, "workerinput", {}).get("builds")
        config.stash[_BUILDS] = Builds(Path(given) if given else config._tmp_path_factory.mktemp("builds"))
    return config.stash[_BUILDS]


def pytest_configure(config: pytest.Config) -> None:
    """A worker has the main file of pytest, as one process of tests has: PySpark ends a process without one.

    It shares the machine with the others, and what it starts does too: threads of a model that wait for one another
    wait for those as well, so that a small model takes four times as long on two threads as on one.
    """
    gc.set_threshold(*_COLLECTIONS)
    if worker := getattr(config, "workerinput", None):
        sys.modules["__main__"].__file__ = worker["mainargv"][0]
        os.environ["OMP_NUM_THREADS"] = "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The test before may have told torch to take more threads, as a build does."""
    if hasattr(item.config, "workerinput") and (torch := sys.modules.get("torch")):
        torch.set_num_threads(1)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes do not name a test: compressed ones tell the time, and all workers must call a test the same."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits for builds goes last, in the order in which those are built; what is done by one stays together."""
    order = ["", *BUILDS]
    waits = {item: max(order.index(name) for name in ("", *_waits_for(item))) for item in items}
    longest: dict[str, int] = {}
    for item in items:
        together = _together(item.nodeid)
        longest[together] = max(longest.get(together, 0), waits[item])
    items.sort(key=lambda item: (longest[_together(item.nodeid)], str(item.path), waits[item]))


def _together(nodeid: str) -> str:
    """What of the tests one process does: a file, but a test of a long build is done for itself."""
    # pytest writes what is not ASCII as escapes.
    if any(name.encode("unicode_escape").decode() in nodeid for name in BUILDS if name != MINI_WEB):
        return nodeid
    return nodeid.partition("::")[0]


def _waits_for(item: pytest.Item) -> set[str]:
    named = item.callspec.params.get("long_build") if hasattr(item, "callspec") else None
    return ({named} if named else set()) | ({MINI_WEB} if "mini_web" in getattr(item, "fixturenames", ()) else set())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """The builds that the selected tests wait for begin before the first test."""
    if session.config.option.collectonly:
        return
    builds(session.config).want(name for item in session.items for name in _waits_for(item))
    if not hasattr(session.config, "workerinput"):
        builds(session.config).start()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["builds"] = str(builds(node.config).folder)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """The first worker that knows its tests has said what they wait for."""
    builds(node.config).start()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What belongs together goes to one worker, in the order of the tests."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _together(nodeid)

    config.option.loadscopereorder = False
    return Files(config, log)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _BUILDS in session.config.stash:
        session.config.stash[_BUILDS].stop()
