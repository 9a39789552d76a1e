"""Settings of what is made of chunks: vectors, pairs, the graph, events, triplets, sources; and of what reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from quern.schemas.addresses import http_address
from quern.schemas.setting_group import HOW, Group, Positive
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

    kind: Literal["rules", "openai", "vllm", "local"] = Field(
        "rules",
        description="`rules` needs no model; `openai` is any OpenAI-compatible endpoint; `vllm` runs a model in "
        "batches on GPUs, through Ray; `local` a small one in this process.",
    )
    model: str = Field(
        "",
        description="Name that the endpoint knows the model by; with `vllm` and `local` a path, or a name in the "
        "Hugging Face cache; with `local` also a GGUF file.",
    )
    tasks: tuple[TaskName, ...] = Field(
        (),
        description="The steps that the model carries out, rules the others; empty for all, but with `local`, which "
        "takes seconds for each, without refusal, clarify, rewrite, decompose and cite.",
        json_schema_extra=HOW,
    )
    url: str = Field(
        "http://127.0.0.1:8000/v1",
        description="Address of the endpoint, up to and with its version.",
        json_schema_extra=HOW,
    )
    key_variable: str = Field(
        "OPENAI_API_KEY",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable that holds the key; the key itself is no setting, because settings are kept.",
        json_schema_extra=HOW,
    )
    concurrency: Positive = Field(32, description="Requests at the endpoint at once.", json_schema_extra=HOW)
    timeout: float = Field(
        120.0, gt=0, description="Seconds for one try of a request, to the end of its reply.", json_schema_extra=HOW
    )
    tries: Positive = Field(
        6,
        description="Tries of a request after 429, 5xx or a lost connection; pauses grow, or are as Retry-After says.",
        json_schema_extra=HOW,
    )
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="Times that an invalid reply is requested again, with the error.",
        json_schema_extra=HOW,
    )
    response_format: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the endpoint is constrained to JSON, by the output's schema by default."
    )
    max_tokens: Positive = Field(2048, description="Most tokens of a reply.")
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens",
        description="What the endpoint calls `max_tokens`; newer models of OpenAI take only the latter.",
        json_schema_extra=HOW,
    )
    temperature: float | None = Field(
        0.0, ge=0.0, le=2.0, description="Sampling temperature; null leaves it to the endpoint."
    )
    top_p: float | None = Field(None, gt=0.0, le=1.0, description="Nucleus sampling; null leaves it to the model.")
    seed: int | None = Field(0, description="Seed of the sampling; null for none.")
    extra: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of the request's body, such as {reasoning_effort: low}."
    )
    device: Literal["auto", "cuda", "cpu"] = Field(
        "auto",
        description="With `vllm` and `local`: where the model runs; `auto` is GPUs with `vllm`, and with `local` a GPU "
        "where there is one.",
        json_schema_extra=HOW,
    )
    dtype: str = Field(
        "auto",
        description="With `vllm` and `local`: numbers of the model, such as float32; `auto` takes the model's own.",
    )
    tensor_parallel: Positive = Field(
        1, description="With `vllm`: GPUs that one copy of the model is spread over.", json_schema_extra=HOW
    )
    replicas: Positive = Field(1, description="With `vllm`: copies of the model.", json_schema_extra=HOW)
    batch: Positive = Field(
        256, description="With `vllm` and `local`: requests given to a copy at a time.", json_schema_extra=HOW
    )
    max_model_len: int = Field(
        0, ge=0, description="With `vllm` and `local`: longest prompt and reply, tokens; 0 for the model's."
    )
    patience: float = Field(
        1800.0,
        gt=0,
        description="With `vllm`: seconds without any reply, the model's loading included, before it stops.",
        json_schema_extra=HOW,
    )
    gpu_memory: float | None = Field(
        None,
        gt=0.0,
        le=1.0,
        description="With `vllm`: share of the memory taken; null for 0.9 of GPUs, 0.2 of others.",
        json_schema_extra=HOW,
    )
    price_prompt: float | None = Field(
        None,
        ge=0,
        description="Price of a million prompt tokens, in any currency, for `quern estimate`.",
        json_schema_extra=HOW,
    )
    price_output: float | None = Field(None, ge=0, description="The same of output tokens.", json_schema_extra=HOW)
    output_speed: float | None = Field(
        None,
        gt=0,
        description="Output tokens per second of all copies together, as a build reports, for `quern estimate`.",
        json_schema_extra=HOW,
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

    model: str = Field(
        "all-MiniLM-L6-v2", description="sentence-transformers model: the packaged default, a name or a path."
    )
    engine: Literal["openvino", "torch"] = Field("openvino", description="What runs the model.")
    device: str = Field(
        "cpu", pattern=r"^(cpu|cuda(:\d+)?)$", description="Where torch runs: `cpu`, or a GPU as `cuda` or `cuda:1`."
    )
    precision: Literal["f32", "bf16", "f16"] = Field(
        "f32",
        description="`f32` runs on every processor. `bf16` is faster where the processor has arithmetic for it; "
        "`f16` is for GPUs.",
    )
    max_tokens: Positive = Field(512, description="Longest text the model is given, raised from MiniLM's 256.")
    batch: int = Field(
        0, ge=0, description="Most texts in one call of the model; 0 for 32, on GPUs 1,024.", json_schema_extra=HOW
    )
    threads: int = Field(0, ge=0, description="Threads of one worker; 0 for all cores.")

    @field_validator("model")
    @classmethod
    def _absolute(cls, model: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(model).absolute()) if Path(model).is_dir() else model


class Doc2QuerySettings(Group):
    """Synthetic queries."""

    groundedness: float = Field(
        0.8,
        ge=0.0,
        le=1.0,
        description="Least share of an answer's words that must stand together in the chunk, of pairs that a model "
        "wrote (QCG-RAG, prompt C.1: the answer is taken nearly verbatim; the paper names no figure).",
    )
    pairs: Positive = Field(20, description="M: most question-answer pairs of a chunk (QCG-RAG, section 4).")
    near_identical: float = Field(
        0.97,
        gt=0.0,
        le=1.0,
        description="Jaccard similarity of the words of two pairs of a chunk from which the later one is left out "
        "(QCG-RAG, prompt C.1, names no figure; measured: 0.95 lowers recall of `qcg`, 0.97 does not).",
    )


class FilterSettings(Group):
    """Doc2Query--: which pairs are kept."""

    alpha: float = Field(0.8, gt=0.0, le=1.0, description="Share of pairs kept (QCG-RAG, section 4).")
    scope: Literal["chunk", "corpus", "absolute"] = Field(
        "chunk",
        description="Best share `alpha` of each chunk (QCG-RAG, section 3.3) or of the corpus (Doc2Query--); "
        "`absolute`: all pairs from `min_similarity` on.",
    )
    most_of_document: Positive = Field(
        200,
        description="Most nodes of a document, spread evenly over its chunks, each of which keeps one at least: so "
        "that a long register does not fill the graph. 200 are those of ten chunks of M = 20.",
    )
    min_similarity: float = Field(
        0.5,
        ge=-1.0,
        le=1.0,
        description="With scope `absolute`, the least cosine of a kept pair with its chunk; of rule-made pairs, 0.5 "
        "with MiniLM keeps .74 of chats' and .98 of short articles'.",
    )


class LinkSettings(Group):
    """The edges of the query-centric graph (QCG-RAG, section 3.3, defaults of MultiHop-RAG)."""

    k: Positive = Field(3, description="Nearest neighbours that a node is joined to.")
    direction: Literal["directed", "symmetric", "mutual"] = Field(
        "directed",
        description="Neighbour edges: each node to its k nearest; the same both ways; or where both are among the k.",
    )
    min_similarity: float = Field(
        -1.0, ge=-1.0, le=1.0, description="Least cosine of neighbours; -1 for none, as in the paper."
    )
    same_chunk: bool = Field(True, description="Whether neighbour edges may join nodes of one chunk.")
    mentions: int = Field(
        5, ge=0, description="Edges of kind `mention` of a node: to documents whose title its text names; 0 for none."
    )
    mention_documents: Positive = Field(20, description="A title that more documents share makes no `mention` edge.")


class NeighbourSettings(Group):
    """How neighbours are found."""

    exact_below: int = Field(
        200_000, ge=0, description="Fewer different vectors than this are compared all with all; more by partitions."
    )
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="`cuda` compares all with all on a GPU, however many there are (extra `torch`)."
    )
    recall: float = Field(
        0.99,
        ge=0.5,
        le=1.0,
        description="Share of true neighbours that partitions are to find; sets how many each node is sought in.",
    )
    partitions: int = Field(0, ge=0, description="Partitions beyond `exact_below`; 0 for the root of the vectors.")
    sample: Positive = Field(1000, description="Nodes whose true neighbours are sought, to know the recall.")
    spare: int = Field(
        4,
        ge=0,
        description="Further neighbours kept of a node, so that a deleted one is replaced; changes no edge.",
        json_schema_extra=HOW,
    )


class EventSettings(Group):
    """Events that chunks report, and their merging (Xinyu, section 3.6.2)."""

    by_model: bool = Field(
        False,
        description="Whether the model of `generator` extracts events too, one request per chunk; else the rule does.",
    )
    per_chunk: Positive = Field(4, description="Most events of a chunk.")
    title_words: Positive = Field(20, description="Most words of an event's title; of Chinese the characters.")
    same: float = Field(
        0.9,
        gt=0.0,
        lt=1.0,
        description="Cosine of two events above which they are one, where their dates do not contradict (Xinyu, "
        "section 3.6.2).",
    )


class CommunitySettings(Group):
    """Communities of the query-centric graph and their summaries, for questions about a whole corpus."""

    by_model: bool = Field(
        False,
        description="Whether what `generator` names writes titles and summaries of communities; else the rule does. A "
        "model is asked once for each community whose members or central sentences changed.",
    )
    levels: int = Field(3, ge=1, le=5, description="Most levels of communities.")
    most: Positive = Field(50, description="Chunks of a community beyond which it is divided at the next level.")
    sentences: Positive = Field(
        20, description="Central sentences kept of a community, however large; a model is shown these."
    )
    summary: Positive = Field(3, description="Most sentences of a summary.")


class TimelineSettings(Group):
    """Timelines by entity, community of the query graph and site (Xinyu, section 3.6.2)."""

    least: int = Field(2, ge=2, description="Events below which a topic has no timeline (released code of Xinyu).")
    most: Positive = Field(200, description="Most events of a timeline: those that most sources report stay.")
    keywords: Positive = Field(8, description="Most keywords of a timeline.")


class SourceSettings(Group):
    """What is kept of the sites that documents come from (Know Where to Go)."""

    topics: Positive = Field(12, description="Most topics of a source.")


class ImageRuleSettings(Group):
    """Which images are excluded: small ones, and those of the site's layout (Xinyu, section 3.6.3)."""

    least_side: Positive = Field(
        250, description="Least pixels of each side, if the size is known (released code of Xinyu)."
    )
    repeated: int = Field(
        4,
        ge=2,
        description="Documents of one site that use an image from which on it belongs to the site: a picture of a "
        "story that goes on stands in two or three.",
    )


class TripletSettings(Group):
    """Triplets that chunks state, and the entities that they name (GraTAG, section 3.3)."""

    by_model: bool = Field(
        False,
        description="Whether the model of `generator` extracts triplets, one request per chunk; else the rule does.",
    )
    per_chunk: Positive = Field(40, description="Most triplets of a chunk, in reading order.")


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
