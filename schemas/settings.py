"""One tree of settings: every threshold with its default, its meaning and its source.

A settings file is YAML with the same tree; `--set group.name=value` overrides it. An unknown or ill-typed
setting is an error that names the nearest setting. Settings of a job enter its fingerprint; the groups
`engine` and `audit` say how to run and enter none.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]


class SettingsError(ValueError):
    """A settings file or an override that is wrong; the message says which setting and what to do."""


class Group(BaseModel):
    """A group of settings: closed, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class IngestSettings(Group):
    """Reading of folders, JSONL and WARC files."""

    max_page_bytes: Positive = Field(
        10_000_000, description="Largest page in bytes, decompressed; larger ones are rejected."
    )
    max_ratio: Positive = Field(200, description="Largest decompressed/compressed ratio of a .gz file over 1 MB.")


class CleanSettings(Group):
    """Main text and metadata of pages."""

    seconds_per_page: float = Field(20.0, gt=0, description="Time limit of one page in its child process, seconds.")
    memory_per_page: Positive = Field(
        2048, description="Address space that the child process may add while parsing, MiB."
    )
    min_characters: int = Field(60, ge=0, description="A page whose main text is shorter is rejected as `no_text`.")
    max_characters: Positive = Field(5_000_000, description="A longer main text is rejected as `too_long`.")


class ChunkSettings(Group):
    """Cutting documents into chunks."""

    tokens: Positive = Field(
        350, description="Most tokens of a chunk, of the embedder's tokenizer (Xinyu, section 3.4)."
    )
    overlap: float = Field(
        0.25, ge=0.0, lt=0.9, description="Share of a chunk that repeats the one before (Xinyu, section 3.4)."
    )


class Doc2QuerySettings(Group):
    """Synthetic queries."""

    generator: Literal["rules"] = Field("rules", description="What writes the pairs: `rules` needs no model.")
    pairs: Positive = Field(20, description="M: most question-answer pairs of a chunk (QCG-RAG, section 4).")


class FilterSettings(Group):
    """Doc2Query--: which pairs are kept."""

    alpha: float = Field(0.8, gt=0.0, le=1.0, description="Share of pairs kept (QCG-RAG, section 4).")
    scope: Literal["chunk", "corpus"] = Field(
        "chunk", description="Best share of each chunk (QCG-RAG) or of the corpus (Doc2Query--)."
    )


class EmbedSettings(Group):
    """The embedding model."""

    model: str = Field(
        "all-MiniLM-L6-v2", description="sentence-transformers model: the packaged default, a name or a path."
    )
    engine: Literal["openvino", "torch"] = Field("openvino", description="What runs the model on CPU.")
    precision: Literal["auto", "f32", "bf16"] = Field(
        "auto", description="`auto`: bf16 on OpenVINO where the processor has it, f32 elsewhere."
    )
    max_tokens: Positive = Field(512, description="Longest text the model is given, raised from MiniLM's 256.")
    batch: Positive = Field(32, description="Most texts in one call of the model.")
    threads: int = Field(0, ge=0, description="Threads of one worker; 0 for all cores.")

    @field_validator("model")
    @classmethod
    def _absolute(cls, model: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(model).absolute()) if Path(model).is_dir() else model


class GraphSettings(Group):
    """The query-centric graph and retrieval in it (QCG-RAG, sections 3 and 4, defaults of MultiHop-RAG)."""

    k: Positive = Field(3, description="Nearest neighbours that a node is joined to.")
    hops: int = Field(1, ge=0, le=4, description="h: hops along neighbour edges.")
    n: Positive = Field(15, description="Most nodes that a question is matched to.")
    gamma: float = Field(1.0, ge=0.0, le=2.0, description="Least cos(question, node) + 1 of a matched node.")
    score: Literal["mean", "max", "sum"] = Field(
        "mean", description="How nodes' similarities make a chunk's score; the paper takes the mean."
    )


class RetrieveSettings(Group):
    """What a question gets back."""

    top_k: Positive = Field(5, description="K: chunks given to the answer (QCG-RAG, section 4).")
    depth: Positive = Field(200, description="Chunks that each part of a fusion is asked for.")
    weight_dense: float = Field(0.6, ge=0, description="Weight of chunk vectors in `hybrid`; z-scores are summed.")
    weight_bm25: float = Field(1.0, ge=0, description="Weight of BM25 in `hybrid`.")
    weight_nodes: float = Field(0.8, ge=0, description="Weight of the best node of a chunk in `hybrid`.")


class AnswerSettings(Group):
    """Answers by rules."""

    sentences: Positive = Field(3, description="Most sentences of an answer.")
    min_score: float = Field(
        0.42, ge=0, le=1, description="Evidence below this is too weak: the answer is that the corpus does not say."
    )


class AuditSettings(Group):
    """What a build must pass before it is published."""

    max_reject_share: Share = Field(0.5, description="Largest share of pages that may be rejected.")
    max_shrink: Share = Field(
        0.5, description="Largest share of documents that a build may lose against the published snapshot."
    )
    keep_snapshots: Positive = Field(7, description="Snapshots kept; older ones are pruned after a build.")


class EngineSettings(Group):
    """How jobs are run; changes no result."""

    engine: Literal["auto", "local", "spark", "ray"] = Field(
        "auto", description="`auto`: Spark for CPU jobs, Ray for models; `local`: all in this process."
    )
    cores: int = Field(0, ge=0, description="Cores to use; 0 for all.")
    spark_master: str = Field("", description="Spark master; empty for local[cores].")
    spark_memory: str = Field("1g", description="Heap of the Spark driver.")
    ray_address: str = Field("", description="Ray cluster; empty for one on this machine.")
    ray_object_store: Positive = Field(256, description="Object store of a local Ray, MiB.")
    batch_rows: Positive = Field(1024, description="Rows read at a time.")
    local_below: int = Field(
        32, ge=0, description="With `auto`, fewer missing rows than this are done in this process."
    )
    task_rows: Positive = Field(64, description="Rows of one committed piece of work.")


class Settings(Group):
    """All settings."""

    ingest: IngestSettings = Field(
        default_factory=IngestSettings, description="Reading of folders, JSONL and WARC files."
    )
    clean: CleanSettings = Field(default_factory=CleanSettings, description="Main text and metadata of pages.")
    chunk: ChunkSettings = Field(default_factory=ChunkSettings, description="Cutting documents into chunks.")
    doc2query: Doc2QuerySettings = Field(default_factory=Doc2QuerySettings, description="Synthetic queries.")
    filter: FilterSettings = Field(default_factory=FilterSettings, description="Doc2Query--: which pairs are kept.")
    embed: EmbedSettings = Field(default_factory=EmbedSettings, description="The embedding model.")
    graph: GraphSettings = Field(
        default_factory=GraphSettings, description="The query-centric graph and retrieval in it."
    )
    retrieve: RetrieveSettings = Field(default_factory=RetrieveSettings, description="What a question gets back.")
    answer: AnswerSettings = Field(default_factory=AnswerSettings, description="Answers by rules.")
    audit: AuditSettings = Field(
        default_factory=AuditSettings, description="What a build must pass before it is published."
    )
    engine: EngineSettings = Field(default_factory=EngineSettings, description="How jobs are run; changes no result.")


def setting_names() -> list[str]:
    """Every setting as `group.name`, in the order of the tree."""
    return [f"{group}.{name}" for group, name, _, _ in describe(Settings())]


def describe(settings: Settings) -> Iterator[tuple[str, str, Any, str]]:
    """Rows of (group, name, value, description), in the order of the tree."""
    for group in Settings.model_fields:
        values = getattr(settings, group)
        for name, field in type(values).model_fields.items():
            yield group, name, getattr(values, name), field.description or ""


def _explain(error: ErrorDetails, where: str) -> str:
    path = ".".join(str(p) for p in error["loc"])
    if error["type"] == "extra_forbidden":
        groups = list(Settings.model_fields)
        near = difflib.get_close_matches(path, setting_names() + groups, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else "; `quern settings` lists them all"
        return f"{where}: there is no setting {path}{hint}"
    return f"{where}: setting {path} is {error['input']!r}: {error['msg'].lower()}"


def _read(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"settings file {path} is not valid YAML: {' '.join(str(error).split())}") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise SettingsError(f"settings file {path} must hold groups of settings, like: graph: {{k: 2}}")
    dotted = [name for name in tree if "." in str(name)]
    if dotted:
        group, _, leaf = str(dotted[0]).partition(".")
        raise SettingsError(f"settings file {path}: write {dotted[0]} as a group: {group}: {{{leaf}: ...}}")
    return tree


def _override(tree: dict[str, Any], override: str) -> None:
    name, equals, value = override.partition("=")
    group, dot, leaf = name.strip().partition(".")
    if not equals or not dot:
        raise SettingsError(f"--set {override}: write it as group.name=value, for example --set graph.k=2")
    branch = tree.setdefault(group, {})
    if not isinstance(branch, dict):
        raise SettingsError(f"--set {override}: {group} is not a group of settings")
    try:
        branch[leaf] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise SettingsError(f"--set {override}: {value!r} is not a valid value") from error


def load_settings(path: Path | None = None, overrides: Sequence[str] = (), base: Settings | None = None) -> Settings:
    """Settings from `base` or the defaults, then the YAML file at `path`, then `group.name=value` overrides.

    Raises:
        SettingsError: The file cannot be read, or a setting is unknown or ill-typed.
    """
    tree: dict[str, Any] = base.model_dump() if base else {}
    for group, branch in (_read(path) if path else {}).items():
        below = tree.get(group)
        tree[group] = {**below, **branch} if isinstance(below, dict) and isinstance(branch, dict) else branch
    for override in overrides:
        _override(tree, override)
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        where = f"settings file {path}" if path and not overrides else "settings"
        raise SettingsError("; ".join(_explain(e, where) for e in error.errors())) from None
