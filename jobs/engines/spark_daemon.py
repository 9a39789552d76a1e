"""The process that Spark forks its Python workers from: what jobs import is imported here, once for all of them."""

from __future__ import annotations

import gc
import importlib
import os

from quern.jobs.engines.spark import PRELOAD

if __name__ == "__main__":
    for module in filter(None, os.environ.get(PRELOAD, "").split(",")):
        importlib.import_module(module)
    from pyspark.daemon import manager

    # The workers share these pages of memory for as long as nobody writes to them, which looking for garbage does.
    gc.freeze()
    manager()
