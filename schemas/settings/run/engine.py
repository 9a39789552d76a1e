"""Group `engine`: what runs the jobs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from quern.schemas.setting_group import Group, Positive


class EngineSettings(Group):
    """How jobs are run; changes no result."""

    engine: Literal["auto", "local", "spark", "ray"] = Field(
        "local",
        description="`local`: this machine's cores; `spark`, `ray`: all jobs on it; `auto`: local, but Spark (Ray for "
        "models) for a job that takes ten times as long as its start, by the builds before.",
    )
    cores: int = Field(0, ge=0, description="Cores to use; 0 for all.")
    spark_master: str = Field("", description="Spark master, which then does CPU jobs; empty for local[cores].")
    spark_memory: str = Field("1g", description="Heap of the Spark driver.")
    ray_address: str = Field(
        "",
        description="Ray cluster, which then embeds and searches neighbours by partitions; empty for this machine.",
    )
    ray_object_store: Positive = Field(256, description="Object store of a local Ray, MiB.")
    batch_rows: Positive = Field(1024, description="Rows read at a time.")
    task_rows: Positive = Field(64, description="Rows of one committed piece of work.")
