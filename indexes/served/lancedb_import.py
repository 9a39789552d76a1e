"""LanceDB, imported in half the time: without a REST client that it loads and that nothing here uses."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final

import pydantic

_CLIENT: Final = "lance_namespace_urllib3_client"


class _BuiltWhenUsed(pydantic.BaseModel):
    """A model whose validator is built when the first of it is made."""

    model_config = pydantic.ConfigDict(defer_build=True)


@contextmanager
def _in_its_place(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Another value of a name of a module."""
    before = vars(module)[name]
    vars(module)[name] = value
    try:
        yield
    finally:
        vars(module)[name] = before


def import_lancedb() -> Any:
    """The module `lancedb`.

    Of the client only the models of its messages are loaded, 290 of them, and their validators built when one is used;
    that methods override others of the same form is not compared in their bytecode; and nothing looks for garbage among
    so many classes. Processor time: .17 s for .50 s.
    """
    client = find_spec(_CLIENT) if _CLIENT not in sys.modules else None
    if client is not None:
        # The package without what its `__init__` imports.
        sys.modules[_CLIENT] = module_from_spec(client)
    with _in_its_place(pydantic, "BaseModel", _BuiltWhenUsed), _overrides_believed(), _no_collection():
        import lancedb
    return lancedb


@contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _overrides_believed() -> Iterator[None]:
    """LanceDB takes the decorator of the package `overrides` where the standard library has none."""
    if sys.version_info >= (3, 12) or find_spec("overrides") is None:
        yield
        return
    import overrides
    import typing_extensions

    with _in_its_place(overrides, "override", typing_extensions.override):
        yield
