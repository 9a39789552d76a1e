from __future__ import annotations

from typing import Any

import pytest

from quern.pipelines.inspect.graph.structure import Structure, load_structure
from tests.pipelines.inspect.graph.small_snapshot import Small, Staged


@pytest.fixture
def small(staged: Staged) -> Any:
    return Small(staged)


@pytest.fixture
def graph(small: Any) -> Structure:
    return load_structure(small)
