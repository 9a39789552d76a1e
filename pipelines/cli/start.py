"""A start of the command without what it would spend on nothing."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType

# Of a start a tenth to a fifth is the search for garbage among what modules define, which is none: imports of `quern
# stage` and of LanceDB take 15 to 19 % less with this than with Python's 700. A hundred thousand objects are some MiB.
_COLLECT_EVERY = 100_000


class _NoPandas(MetaPathFinder):
    """A finder that says of pandas that it is not there."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """No module of that name; of others nothing is said."""
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return None


def _load_when_used(name: str) -> None:
    """Import the module `name` when an attribute of it is first asked for."""
    spec = find_spec(name)
    if spec is None or spec.loader is None or name in sys.modules:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    parent, _, own = name.rpartition(".")
    setattr(sys.modules[parent], own, module)


def start_light() -> None:
    """Look for garbage less often, and keep pyarrow from importing pandas, and SciPy numpy.f2py, before it is wanted.

    SciPy imports all names of NumPy, one of which is a compiler of Fortran that takes .05 s.
    """
    gc.set_threshold(_COLLECT_EVERY)
    _load_when_used("numpy.f2py")
    import pyarrow as pa

    # The first array of Python's values imports pandas, a quarter of a second, to see whether they are a Series. Told
    # that there is none pyarrow asks no more; `to_pandas` imports it all the same.
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
