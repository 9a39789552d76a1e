"""A snapshot, open for searching: its graph, its model and what recipes make of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from functools import cache, cached_property
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import pyarrow as pa

from quern.indexes.catalog.folder import Snapshot
from quern.indexes.catalog.manifest import Manifest
from quern.indexes.graph import QueryGraph, VectorIndexes
from quern.jobs.core.work import core_count
from quern.jobs.models.folders import DEFAULT_MODEL, ModelError, find_folder, model_fingerprint, read_model
from quern.jobs.models.machine import in_background
from quern.jobs.models.reader import Reader
from quern.jobs.text.search_form import SearchForm
from quern.jobs.vectors.embedder import Embedder, configuration, for_questions
from quern.schemas.settings import AnswerSettings, EmbedSettings, GeneratorSettings, Settings

Given = ParamSpec("Given")
Made = TypeVar("Made")


class Pictures(Protocol):
    """Images of answers that are fetched; see `pipelines.images.pictures`."""

    def fetch(self, urls: Collection[str]) -> None:
        """Fetch the images of these addresses that were not asked for before."""

    def get(self, url: str) -> Any:
        """The image of an address; None where there is none."""


class Searcher:
    """A snapshot, the embedder that its vectors were made with, and the settings to search it by.

    Attributes:
        pictures: What fetches images of answers; None where none are fetched.
    """

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self.snapshot = snapshot
        self.settings = settings

        def inverted_files() -> VectorIndexes:
            from quern.jobs.graph.neighbours.inverted_file import InvertedFiles  # Few snapshots need what it imports.

            return InvertedFiles(core_count(self.settings.engine))

        self.graph = QueryGraph(snapshot, settings.retrieve.vectors_in_memory, inverted_files)
        self.pictures: Pictures | None = None
        self._embedder_ahead: Future[Embedder] | None = None
        self._held: dict[tuple[object, ...], Any] = {}

    @cached_property
    def form(self) -> SearchForm:
        """The form in which the snapshot's texts are searched, and so its questions."""
        return SearchForm(self.snapshot.manifest.known_settings().normalise)

    @cached_property
    def embedder(self) -> Embedder:
        """The model of the snapshot, as its vectors were made.

        Raises:
            ModelError: The settings name another model than the snapshot's vectors were made with.
        """
        return Embedder.load(self._embedding())

    @cached_property
    def question_embedder(self) -> Embedder:
        """The same for questions: the other is not loaded for them alone.

        Raises:
            ModelError: The settings name another model than the snapshot's vectors were made with.
        """
        return self._embedder_ahead.result() if self._embedder_ahead else Embedder.for_questions(self._embedding())

    @cached_property
    def question_model(self) -> Mapping[str, object]:
        """Everything that a vector of a question depends on beside its text.

        Raises:
            ModelError: The settings name another model than the snapshot's vectors were made with.
        """
        return configuration(for_questions(self._embedding()))

    def prepare(self) -> None:
        """Begin to load the models that a question needs, in the background: one that is asked alone waits less."""

        def prepared() -> Embedder:
            embedder = Embedder.for_questions(self._embedding())
            embedder.prepare()
            return embedder

        self._embedder_ahead = in_background(prepared)
        if reader := reader_of(self.settings.answer):
            reader.prepare()

    def _embedding(self) -> EmbedSettings:
        """The settings of the snapshot's model."""
        manifest, embed = self.snapshot.manifest, self.settings.embed
        if model_fingerprint(read_model(embed.model)) != manifest.model:
            raise ModelError(
                f"the vectors of snapshot {manifest.build_id} were made with another model than {embed.model} is now; "
                "vectors of two models do not compare: build again, or name the model it was built with"
            )
        return embed

    @cached_property
    def queries(self) -> pa.Table:
        """The generated pairs, with `query_id`, `chunk_id`, `question`, `answer` and `kept`."""
        columns = ["query_id", "chunk_id", "question", "answer", "kept"]
        stage = self.snapshot.stage("queries")
        schema = pa.schema([stage.table.schema.field(c) for c in columns])
        return pa.Table.from_batches(stage.batches(columns), schema=schema)

    def held(
        self, make: Callable[Concatenate[Searcher, Given], Made], *given: Given.args, **named: Given.kwargs
    ) -> Made:
        """What a recipe makes of the snapshot for all its questions: made when first asked for, then held."""
        key = (make, *given, *sorted(named.items()))
        if key not in self._held:
            self._held[key] = make(self, *given, **named)
        made: Made = self._held[key]
        return made


def settings_to_ask_by(manifest: Manifest) -> Settings:
    """The settings that a snapshot is asked by unless the user says otherwise: its own, and answers by rules.

    A model that wrote its synthetic queries answers only where this command names it: it may be gone, or cost money.
    """
    return manifest.known_settings().model_copy(update={"generator": GeneratorSettings()})


log = logging.getLogger(__name__)


def reader_of(settings: AnswerSettings) -> Reader | None:
    """The reader by `settings`; None where they want none, or the model that it is trained from is not installed.

    Raises:
        ModelError: The file of its weights is missing, or the processor lacks the precision.
    """
    return Reader.load(settings.precision) if settings.windows and _is_installed() else None


@cache
def _is_installed() -> bool:
    """Whether the reader's base model is installed; where it is not, that is said once."""
    try:
        find_folder(DEFAULT_MODEL, "answer.windows")
    except ModelError as error:
        log.warning("answers are chosen by shared words alone: %s", error)
        return False
    return True
