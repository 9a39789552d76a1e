"""Group `engine`: what runs the jobs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class EngineSettings(Group):
    """How jobs are run; changes no result."""

    engine: Literal["auto", "local", "spark", "ray"] = Field(
        "auto", description="`auto`: Spark for CPU jobs, Ray for models; `local`: all in this process."
    )
    cores: int = Field(0, ge=0, description="Cores to use; 0 for all.")
    spark_master: str = Field("", description="Spark master; empty for local[cores].")
    spark_memory: str = Field("1g", description="Heap of the Spark driver.")
    ray_address: str = Field(
        "", description="Ray cluster; empty for one on this machine. `link` spreads partitions over it."
    )
    ray_object_store: Positive = Field(256, description="Object store of a local Ray, MiB.")
    batch_rows: Positive = Field(1024, description="Rows read at a time.")
    local_below: int = Field(
        32, ge=0, description="With `auto`, fewer missing rows than this are done in this process."
    )
    task_rows: Positive = Field(64, description="Rows of one committed piece of work.")
