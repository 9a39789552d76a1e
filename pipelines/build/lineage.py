"""OpenLineage events of a build: that it and each of its steps began and ended, what was read and what was made.

Specification: https://openlineage.io/docs/spec/object-model (version 2-0-2); tests hold the events to the classes of
the official client.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid4, uuid5

from quern.indexes.catalog import Manifest, WarehouseFolder
from quern.jobs.core.step import Step
from quern.pipelines.build.records import Begun, FinishedStep
from quern.schemas.addresses import Url, absolute
from quern.schemas.settings import Settings
from quern.schemas.tables import TABLES, Table
from quern.schemas.version import VERSION

log = logging.getLogger(__name__)

_SPEC: Final = "https://openlineage.io/spec"
_PRODUCER: Final = f"urn:quern:{VERSION}"

Tree = dict[str, Any]


class Lineage:
    """Writes the events of one build to a file; where that fails, the build goes on without it."""

    def __init__(self, begun: Begun, warehouse: WarehouseFolder, settings: Settings) -> None:
        self._begun, self._root, self._settings = begun, warehouse.root, settings
        self._path = warehouse.lineage / f"{begun.build_id}.jsonl"
        # Steps of one build may run in processes of their own, which name it alike.
        self._run_id = str(uuid5(NAMESPACE_URL, f"{warehouse.root.as_uri()}#{begun.build_id}"))
        self._writes = settings.lineage.events

    def begun(self) -> None:
        """Tell that the build begins."""
        self._tell("START", self._run_id, "build", {}, [self._source()], [])

    def published(self, manifest: Manifest) -> None:
        """Tell that the build is published, with all its tables; no step makes its rejects."""
        outputs = [self._made(name, TABLES[name], of.digest, of.rows) for name, of in manifest.tables.items()]
        self._tell("COMPLETE", self._run_id, "build", {}, [self._source()], outputs)

    def ended(self, error: BaseException) -> None:
        """Tell that `error` ended the build."""
        self._tell(_end_of(error), self._run_id, "build", {}, [self._source()], [], error)

    @contextmanager
    def step(self, step: Step) -> Iterator[list[FinishedStep]]:
        """Tell that a step begins, and how it ends; the block adds what it finished to the list."""
        run_id, name = str(uuid4()), f"build.{step.name}"
        parent = {
            "run": {"runId": self._run_id},
            "job": {"namespace": self._settings.lineage.namespace, "name": "build"},
        }
        facets = {"parent": _facet("ParentRunFacet", "1-2-0", **parent)}
        inputs = [self._dataset(table) for table in step.reads] or [self._source()]
        finished: list[FinishedStep] = []
        self._tell("START", run_id, name, facets, inputs, [self._dataset(table) for table in step.makes])
        try:
            yield finished
        except BaseException as error:
            self._tell(_end_of(error), run_id, name, facets, inputs, [], error)
            raise
        record = finished[0].record  # An idle step's is of the build before, perhaps by an earlier version of Quern.
        for table, read in zip(step.reads, inputs, strict=False):  # What the first step reads has no digest.
            read["facets"] = {"version": _version(record.reads.get(table, ""))}
        tables = {table: step.table(table, self._settings) for table in step.makes}
        outputs = [self._made(n, table, record.makes.get(n, ""), record.rows.get(n, 0)) for n, table in tables.items()]
        self._tell("COMPLETE", run_id, name, facets, inputs, outputs)

    def _source(self) -> Tree:
        """What pages are read from."""
        source = self._begun.source
        if isinstance(source, Url):
            bucket, _, key = source.removeprefix(f"{source.scheme}://").partition("/")
            return {"namespace": f"{source.scheme}://{bucket}", "name": key or "/"}
        return {"namespace": "file", "name": str(absolute(source) if source else self._root / "pages")}

    def _dataset(self, table: str) -> Tree:
        """A table under one name in all builds; one on the way goes when the build is done."""
        return {"namespace": "file", "name": str(self._root / ("stages" if table in TABLES else "work") / table)}

    def _made(self, name: str, table: Table, digest: str, rows: int) -> Tree:
        fields = [{"name": n, "type": kind, "description": table.meaning(n)} for n, kind in table.types().items()]
        written = _facet("OutputStatisticsOutputDatasetFacet", "1-0-2", rowCount=rows)
        return {
            **self._dataset(name),
            "facets": {"schema": _facet("SchemaDatasetFacet", "1-2-0", fields=fields), "version": _version(digest)},
            "outputFacets": {"outputStatistics": written},
        }

    def _tell(
        self,
        state: str,
        run_id: str,
        job: str,
        facets: Mapping[str, Tree],
        inputs: Sequence[Tree],
        outputs: Sequence[Tree],
        error: BaseException | None = None,
    ) -> None:
        engine = _facet("ProcessingEngineRunFacet", "1-1-1", version=VERSION, name="Quern")
        failure = {}
        if error is not None:
            message = str(error) or type(error).__name__
            facet = _facet("ErrorMessageRunFacet", "1-0-1", message=message, programmingLanguage="Python")
            failure = {"errorMessage": facet}
        kind = _facet("JobTypeJobFacet", "2-0-4", processingType="BATCH", integration="QUERN", jobType="TASK")
        event = {
            "eventType": state,
            "eventTime": datetime.now(UTC).isoformat(),
            "run": {"runId": run_id, "facets": {**facets, "processing_engine": engine, **failure}},
            "job": {"namespace": self._settings.lineage.namespace, "name": job, "facets": {"jobType": kind}},
            "inputs": inputs,
            "outputs": outputs,
            "producer": _PRODUCER,
            "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        }
        if self._writes:
            try:
                self._path.parent.mkdir(exist_ok=True)
                with self._path.open("a", encoding="ascii") as file:
                    file.write(json.dumps(event) + "\n")
            except OSError as error:
                self._writes = False
                log.warning("lineage events are not written: %s error=%s", self._path, error)


def _end_of(error: BaseException) -> str:
    """How a run ended that `error` ended."""
    return "FAIL" if isinstance(error, Exception) else "ABORT"


def _version(digest: str) -> Tree:
    return _facet("DatasetVersionDatasetFacet", "1-0-1", datasetVersion=digest)


def _facet(kind: str, edition: str, **values: Any) -> Tree:
    """A facet with where its schema is."""
    return {"_producer": _PRODUCER, "_schemaURL": f"{_SPEC}/facets/{edition}/{kind}.json#/$defs/{kind}", **values}
