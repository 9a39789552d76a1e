"""Settings of what is made of chunks: vectors, pairs, the graph, events, triplets, sources; and of what reasons."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import NonNegativeInt, PositiveFloat, field_validator, model_validator

from quern.schemas.addresses import http_address
from quern.schemas.setting_group import Device, Group, ModelName, Positive, Share, setting
from quern.schemas.settings.documents import (
    ChunkSettings,
    CleanSettings,
    DeduplicateSettings,
    IngestSettings,
    NormaliseSettings,
    QualitySettings,
)

TaskName = Literal[
    "refusal", "clarify", "rewrite", "decompose", "expand", "answer", "cite", "entail", "align", "select", "verify",
    "compensate", "doc2query", "find_events", "find_triplets", "summarise", "note", "overview", "source", "judge",
]  # fmt: skip
"""The steps that a model may carry out; `source` and `judge` are all those of finding sources and of judging."""
# Beside the answer, on the way of a question: a model in this process takes seconds for each.
_BESIDE_ANSWER: Final = frozenset({"refusal", "clarify", "rewrite", "decompose", "cite"})
# What names of tasks begin with, where `tasks` has one name for several.
_GROUPS: Final = {"source": "source", "judge": "judge", "prefer": "judge"}


class GeneratorSettings(Group):
    """What carries out reasoning steps: rules, or a model behind an endpoint, in this process, on a cluster's GPUs."""

    kind: Literal["rules", "openai", "vllm", "local"] = setting(
        "rules",
        "`rules` needs no model; `openai` is any compatible endpoint; `vllm` runs on GPUs by Ray; `local` here.",
    )
    model: str = setting(
        "",
        "What the endpoint calls it; a path or Hugging Face name (`vllm`, `local`), or a GGUF file (`local`).",
    )
    tasks: tuple[TaskName, ...] = setting(
        (),
        "Steps that the model carries out; empty for all, with `local` for those of a build and the answer.",
        how=True,
    )
    url: str = setting("http://127.0.0.1:8000/v1", "Address of the endpoint, up to and with its version.", how=True)
    key_variable: str = setting(
        "OPENAI_API_KEY",
        "Environment variable that holds the key, which is no setting, as settings are kept.",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        how=True,
    )
    concurrency: Positive = setting(32, "Requests at the endpoint at once.", how=True)
    timeout: PositiveFloat = setting(120.0, "Seconds for one try of a request, to the end of its reply.", how=True)
    tries: Positive = setting(6, "Tries of a request after 429, 5xx or a lost connection.", how=True)
    retries: int = setting(2, "Times that an invalid reply is requested again, with the error.", ge=0, le=10, how=True)
    response_format: Literal["json_schema", "json_object", "none"] = setting(
        "json_schema", "How the endpoint is constrained to JSON."
    )
    max_tokens: Positive = setting(2048, "Most tokens of a reply.")
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = setting(
        "max_tokens", "What the endpoint calls `max_tokens`; newer models of OpenAI take only the latter.", how=True
    )
    temperature: float | None = setting(0.0, "Sampling temperature; null leaves it to the endpoint.", ge=0.0, le=2.0)
    top_p: float | None = setting(None, "Nucleus sampling; null leaves it to the model.", gt=0.0, le=1.0)
    seed: int | None = setting(0, "Seed of the sampling; null for none.")
    extra: dict[str, Any] = setting({}, "Further fields of the request's body, such as {reasoning_effort: low}.")
    device: Literal["auto", "cuda", "cpu"] = setting(
        "auto",
        "With `vllm` and `local`: where the model runs; `auto` is a GPU, with `local` only if there is one.",
        how=True,
    )
    dtype: str = setting(
        "auto", "With `vllm` and `local`: numbers of the model, such as float32; `auto` is the model's own."
    )
    tensor_parallel: Positive = setting(1, "With `vllm`: GPUs that one copy of the model is spread over.", how=True)
    replicas: Positive = setting(1, "With `vllm`: copies of the model.", how=True)
    batch: Positive = setting(256, "With `vllm` and `local`: requests given to a copy at a time.", how=True)
    max_model_len: NonNegativeInt = setting(
        0, "With `vllm` and `local`: most tokens of prompt and reply; 0 for the model's."
    )
    patience: PositiveFloat = setting(
        1800.0, "With `vllm`: seconds without a reply, the model's loading included, before it stops.", how=True
    )
    gpu_memory: float | None = setting(
        None, "With `vllm`: share of the memory taken; null for 0.9 of GPUs, 0.2 of others.", gt=0.0, le=1.0, how=True
    )
    price_prompt: float | None = setting(
        None, "Price of a million prompt tokens, for `quern estimate`.", ge=0, how=True
    )
    price_output: float | None = setting(None, "The same of output tokens.", ge=0, how=True)
    output_speed: float | None = setting(
        None, "Output tokens a second, as a build reports, for `quern estimate`.", gt=0, how=True
    )

    def of(self, task: str) -> GeneratorSettings:
        """What carries out a task: these settings, or rules."""
        name = _GROUPS.get(task.partition("_")[0], task)
        beside = self.kind == "local" and name in _BESIDE_ANSWER
        return self if (name in self.tasks if self.tasks else not beside) else GeneratorSettings()

    @field_validator("url")
    @classmethod
    def _no_secret(cls, url: str) -> str:
        return http_address(url, "the environment variable that generator.key_variable names has the key")

    @model_validator(mode="after")
    def _named(self) -> GeneratorSettings:
        if self.kind != "rules" and not self.model:
            raise ValueError(f"generator.kind={self.kind} needs generator.model")
        return self


class EmbedSettings(Group):
    """The embedding model."""

    model: ModelName = setting(
        "all-MiniLM-L6-v2", "sentence-transformers model: the packaged default, a name or a path."
    )
    engine: Literal["openvino", "torch"] = setting("openvino", "What runs the model.")
    device: Device = setting("cpu", "Where torch runs: `cpu`, or a GPU as `cuda` or `cuda:1`.")
    precision: Literal["f32", "bf16", "f16"] = setting(
        "f32", "`f32` runs on every processor, `bf16` faster on some; `f16` is for GPUs."
    )
    max_tokens: Positive = setting(512, "Longest text the model is given, raised from MiniLM's 256.")
    batch: NonNegativeInt = setting(0, "Most texts in one call of the model; 0 for 32, on GPUs 1,024.", how=True)
    threads: NonNegativeInt = setting(0, "Threads of one worker; 0 for all cores.")


class Doc2QuerySettings(Group):
    """Synthetic queries."""

    groundedness: Share = setting(
        0.8, "Least share of a model's answer that stands together in the chunk (QCG-RAG, C.1; no figure there)."
    )
    pairs: Positive = setting(20, "M: most question-answer pairs of a chunk (QCG-RAG, section 4).")
    near_identical: float = setting(
        0.97,
        "Jaccard similarity of two pairs' words that drops the later (QCG-RAG, C.1); 0.95 lowers recall, 0.97 not.",
        gt=0.0,
        le=1.0,
    )


class FilterSettings(Group):
    """Doc2Query--: which pairs are kept."""

    alpha: float = setting(0.8, "Share of pairs kept (QCG-RAG, section 4).", gt=0.0, le=1.0)
    scope: Literal["chunk", "corpus"] = setting(
        "chunk", "Best `alpha` of each chunk (QCG-RAG, section 3.3) or of the corpus (Doc2Query--)."
    )
    most_of_document: Positive = setting(
        200, "Most nodes of a document, spread over its chunks: a long register does not fill the graph."
    )


class LinkSettings(Group):
    """The edges of the query-centric graph (QCG-RAG, section 3.3, defaults of MultiHop-RAG)."""

    k: Positive = setting(3, "Nearest neighbours that a node is joined to.")
    direction: Literal["directed", "symmetric", "mutual"] = setting(
        "directed", "Neighbour edges: each node to its k nearest; the same both ways; or where both are among the k."
    )
    same_chunk: bool = setting(True, "Whether neighbour edges may join nodes of one chunk.")
    mentions: NonNegativeInt = setting(
        5, "Edges of kind `mention` of a node: to documents whose title its text names; 0 for none."
    )
    mention_documents: Positive = setting(20, "A title that more documents share makes no `mention` edge.")


class NeighbourSettings(Group):
    """How neighbours are found."""

    exact_below: NonNegativeInt = setting(
        200_000, "Fewer different vectors are compared all with all, more by partitions."
    )
    recall: float = setting(0.99, "Share of true neighbours that partitions are to find.", ge=0.5, le=1.0)
    partitions: NonNegativeInt = setting(0, "Partitions beyond `exact_below`; 0 for the root of the vectors.")
    sample: Positive = setting(1000, "Nodes whose true neighbours are sought, to know the recall.")
    spare: NonNegativeInt = setting(
        4, "Further neighbours kept of a node, to replace deleted ones; changes no edge.", how=True
    )


class EventSettings(Group):
    """Events that chunks report, and their merging (Xinyu, section 3.6.2)."""

    by_model: bool = setting(False, "Whether the model of `generator` extracts events too, a request a chunk.")
    per_chunk: Positive = setting(4, "Most events of a chunk.")
    title_words: Positive = setting(20, "Most words of an event's title; of Chinese the characters.")
    same: float = setting(
        0.9, "Cosine above which two events without contradicting dates are one (Xinyu, section 3.6.2).", gt=0.0, lt=1.0
    )


class CommunitySettings(Group):
    """Communities of the query-centric graph and their summaries, for questions about a whole corpus."""

    by_model: bool = setting(
        False, "Whether the model of `generator` writes titles and summaries, a request for each that changed."
    )
    levels: int = setting(3, "Most levels of communities.", ge=1, le=5)
    most: Positive = setting(50, "Chunks of a community beyond which it is divided at the next level.")
    sentences: Positive = setting(20, "Central sentences kept of a community, however large; a model is shown these.")
    summary: Positive = setting(3, "Most sentences of a summary.")


class TimelineSettings(Group):
    """Timelines by entity, community of the query graph and site (Xinyu, section 3.6.2)."""

    least: int = setting(2, "Events below which a topic has no timeline (released code of Xinyu).", ge=2)
    most: Positive = setting(200, "Most events of a timeline: those that most sources report stay.")
    keywords: Positive = setting(8, "Most keywords of a timeline.")


class SourceSettings(Group):
    """What is kept of the sites that documents come from (Know Where to Go)."""

    topics: Positive = setting(12, "Most topics of a source.")


class ImageRuleSettings(Group):
    """Which images are excluded: small ones, and those of the site's layout (Xinyu, section 3.6.3)."""

    least_side: Positive = setting(250, "Least pixels of each side, if the size is known (released code of Xinyu).")
    repeated: int = setting(
        4,
        "Documents of a site from which on an image they use belongs to the site; one of a story is in two or three.",
        ge=2,
    )


class TripletSettings(Group):
    """Triplets that chunks state, and the entities that they name (GraTAG, section 3.3)."""

    by_model: bool = setting(False, "Whether the model of `generator` extracts triplets, a request a chunk.")
    per_chunk: Positive = setting(40, "Most triplets of a chunk, in reading order.")


class BuildSettings(Group):
    """What the rows of tables depend on. A search reads `embed` and `generator` too: it must do as the build did."""

    ingest: IngestSettings = IngestSettings()
    clean: CleanSettings = CleanSettings()
    normalise: NormaliseSettings = NormaliseSettings()
    quality: QualitySettings = QualitySettings()
    deduplicate: DeduplicateSettings = DeduplicateSettings()
    chunk: ChunkSettings = ChunkSettings()
    embed: EmbedSettings = EmbedSettings()
    generator: GeneratorSettings = GeneratorSettings()
    doc2query: Doc2QuerySettings = Doc2QuerySettings()
    filter: FilterSettings = FilterSettings()
    link: LinkSettings = LinkSettings()
    neighbours: NeighbourSettings = NeighbourSettings()
    events: EventSettings = EventSettings()
    communities: CommunitySettings = CommunitySettings()
    timelines: TimelineSettings = TimelineSettings()
    sources: SourceSettings = SourceSettings()
    image_rules: ImageRuleSettings = ImageRuleSettings()
    triplets: TripletSettings = TripletSettings()
