"""What answers depend on beside the tables; no build reads it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from quern.schemas.addresses import http_address
from quern.schemas.setting_group import HOW, Folder, Group, Positive, Share

Category = Literal[
    "illegal_content", "ethical_violations", "privacy_breaches", "harmful_intent", "professional_consultations",
    "human_ai_interactions", "misinformation", "technical_inquiries", "academic_requests", "planning_and_consulting",
    "creative_content",
]  # fmt: skip
"""What a question may be refused as (Xinyu AI Search, section on query preprocessing)."""


class QuestionSettings(Group):
    """How a question is preprocessed before the search (Xinyu AI Search, query preprocessing)."""

    refused: tuple[Category, ...] = Field(
        ("illegal_content", "ethical_violations", "privacy_breaches", "harmful_intent"),
        description="Categories of questions that are refused, of the eleven of Xinyu AI Search.",
    )
    rewrite: bool = Field(
        True,
        description="Put the days of relative times behind them (`last month (October 2026)`); a model also completes "
        "partial names.",
    )
    decompose: bool = Field(
        True, description="Take complex questions apart into a graph of sub-questions (GraTAG, 3.2)."
    )
    now: date | None = Field(
        None, description="The day that `last month` counts from; none: the day on which the snapshot was built."
    )
    max_characters: Positive = Field(2000, description="A longer question is rejected.")


class GraphSettings(Group):
    """How a question finds chunks in the query-centric graph (QCG-RAG, section 4, defaults of MultiHop-RAG)."""

    hops: int = Field(1, ge=0, le=4, description="h: hops along neighbour edges.")
    n: Positive = Field(15, description="Most nodes that a question is matched to.")
    gamma: float = Field(1.0, ge=0.0, le=2.0, description="Least cos(question, node) + 1 of a matched node.")
    score: Literal["mean", "max", "sum"] = Field(
        "mean", description="How nodes' similarities make a chunk's score; the paper takes the mean."
    )


class RetrieveSettings(Group):
    """What a question gets back.

    The weights were chosen on LiHua-World and MuSiQue, as round numbers in the middle of a plateau.
    """

    sources: tuple[Literal["graph", "vectors", "text", "elasticsearch"], ...] = Field(
        ("graph", "vectors", "text"),
        description="What is searched in `hybrid` and `bridge`: the nodes and edges of the graph, the vectors of "
        "chunks, full text; one that is left out has no weight. `elasticsearch` stands for both, on a server.",
    )
    where: tuple[str, ...] = Field(
        (),
        description="Conditions that all found chunks meet, on columns of documents and chunks: `site=example.org`, "
        "`published_at>=2024-05-01`, `language!=en`.",
    )
    as_of: date | None = Field(
        None,
        description="Only documents published by this day, and not modified after it, are evidence; relative times "
        "count from it. Documents without a date are left out.",
    )
    top_k: Positive = Field(5, description="K: chunks given to the answer (QCG-RAG, section 4).")
    vectors_in_memory: Positive = Field(
        1_000_000,
        description="Vectors of a table up to which a search holds them in memory, 1.5 GB with MiniLM, and compares "
        "all; more lie in partitions on disk, in the folder `search` of the warehouse, and a question looks into as "
        "many as hold .99 of the nearest vectors of a sample.",
        json_schema_extra=HOW,
    )
    depth: Positive = Field(200, description="Chunks that each part of a fusion is asked for.")
    weight_dense: float = Field(0.3, ge=0, description="Weight of the cosine of a chunk in `hybrid`.")
    weight_bm25: float = Field(
        0.4, ge=0, description="Weight of BM25 in `hybrid`, as a share of the best score of the question."
    )
    weight_nodes: float = Field(0.7, ge=0, description="Weight of the cosine of a chunk's best node in `hybrid`.")
    deduplicate_above: Share = Field(
        0.98,
        description="Greatest cosine of two chunks that are given to the answer: of two more alike the better is kept; "
        "1 for any. The paper's .8 is of bge-large: with MiniLM it loses gold documents, see docs/howto/models.md.",
    )
    document_share: Share = Field(
        0.5, description="Share of its document in the score of a chunk: the best that each part found in it."
    )
    weight_clauses: float = Field(
        0.5, ge=0, description="Weight of the best clause of a question that falls into several (`A before B`)."
    )
    weight_expansions: float = Field(
        0.0,
        ge=0,
        description="Weight of the best expansion of a question in `hybrid`; a model writes them. With expansions by "
        "rule, recall fell on LiHua-World and MuSiQue, so none is made by default.",
    )
    weight_bridges: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        (0.4, 0.3, 0.3),
        description="Weights of `mention` edges from a question's best documents in `bridge`, one for each round in "
        "which they are followed; `[]` for none.",
    )
    weight_names: float = Field(
        0.3, ge=0, description="Weight of a rare name in `bridge` that a chunk shares with one of the best documents."
    )

    @field_validator("sources")
    @classmethod
    def _once(cls, sources: tuple[str, ...]) -> tuple[str, ...]:
        """A server searches vectors and text, which would count twice."""
        if "elasticsearch" in sources and {"vectors", "text"} & {*sources}:
            raise ValueError("elasticsearch searches vectors and text: leave these two out")
        return sources


class SearchServerSettings(Group):
    """An Elasticsearch or OpenSearch server that holds what `quern export` sent, and that is searched.

    Credentials are no settings, because settings are kept: they come from environment variables.
    """

    kind: Literal["elasticsearch", "opensearch"] = Field(
        "elasticsearch", description="Kind of the server.", json_schema_extra=HOW
    )
    url: str = Field("http://127.0.0.1:9200", description="Its address, without credentials.", json_schema_extra=HOW)
    index: str = Field(
        "quern-chunks",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$",
        description="Alias that is searched: that of the table `chunks`.",
        json_schema_extra=HOW,
    )
    timeout: float = Field(60.0, gt=0, description="Seconds for one try of a request.", json_schema_extra=HOW)
    tries: Positive = Field(
        6,
        description="Tries of a request after 408, 429, 502, 503, 504 or a lost connection; pauses grow to 30 s.",
        json_schema_extra=HOW,
    )

    @field_validator("url")
    @classmethod
    def _without_credentials(cls, url: str) -> str:
        return http_address(url, "environment variables have the credentials")


class RerankSettings(Group):
    """Reranking by a cross-encoder (Xinyu AI Search, section 3.4); without a model the fusion's order stays."""

    model: str = Field(
        "",
        description="Cross-encoder of one score, such as `BAAI/bge-reranker-v2-m3`: a name or a folder; '' for none.",
    )
    device: str = Field(
        "cpu", pattern=r"^(cpu|cuda(:\d+)?)$", description="Where it runs: `cpu`, or a GPU as `cuda` or `cuda:1`."
    )
    depth: Positive = Field(50, description="Chunks of a question that it reads, the best of the fusion.")
    max_tokens: Positive = Field(512, description="Longest pair of question and chunk it is given; chunks are cut.")
    batch: int = Field(
        0, ge=0, description="Most pairs in one call of the model; 0 for 16, on GPUs 256.", json_schema_extra=HOW
    )

    @field_validator("model")
    @classmethod
    def _absolute(cls, model: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(model).absolute()) if model and Path(model).is_dir() else model


class GGatrievalSettings(Group):
    """The recipe `ggatrieval` (GGatrieval, the loop of its search)."""

    rounds: Positive = Field(4, description="T: most rounds of a question (GGatrieval).")
    documents: Positive = Field(5, description="N: chunks that each further query is asked for (GGatrieval).")
    candidates: Positive = Field(50, description="Chunks of a question that are aligned in a round (GGatrieval).")
    similar: Share = Field(
        0.66,
        description="tau: from this share of constituents matched on a chunk is itself added to the question of the "
        "next round; below it, a model writes a passage (GGatrieval).",
    )
    window: Positive = Field(20, description="Candidates that selection looks at together (GGatrieval).")
    keep: Positive = Field(5, description="k: chunks that selection keeps (GGatrieval).")


class AnswerSettings(Group):
    """Answers by the reader or a language model."""

    sentences: Positive = Field(3, description="Most sentences that carry the short answer.")
    risk: float = Field(
        0.45,
        ge=0,
        le=1,
        description="Accepted probability that the evidence does not answer; above it, the question is refused.",
    )
    windows: int = Field(
        2,
        ge=0,
        le=8,
        description="Windows of likely lines that the trained reader reads of each question; with more than one the "
        "best lines are read once more together. A window takes some 0.1 s of one core. 0 for none: then the lines "
        "that share the most words with the question answer, and the reader is not loaded.",
    )
    precision: Literal["f32", "bf16"] = Field(
        "f32",
        description="Precision of the trained reader: `f32` runs on every processor, `bf16` takes half the time "
        "where the processor has AVX-512 BF16 or AMX.",
    )
    chunks: Positive = Field(3, description="Chunks of the evidence that a language model is shown whole, the best.")
    triplets: int = Field(
        0,
        ge=0,
        description="Most triplets that a model gets beside the passages (TAG: GraTAG, section 3.3); 0 for "
        "none. The paper weighs them by a trained network, Quern by shared words.",
    )


class OverviewSettings(Group):
    """Answers about a whole corpus: the recipe `global`."""

    near: float = Field(
        0.36,
        ge=-1.0,
        le=1.0,
        description="Mean cosine of a constituent of the question with its ten nearest nodes from which on the "
        "question is about that; a question about nothing in particular is answered from the largest communities. "
        "With MiniLM 37 of 52 topics of five corpora reach it, and 6 of 130 general words and absent topics.",
    )
    topics: Positive = Field(6, description="Most communities of an answer.")
    sentences: Positive = Field(12, description="Most sentences of an answer.")
    shown: Positive = Field(60, description="Most sentences that a model is shown for a question, of all communities.")


class AlignSettings(Group):
    """Fine-grained alignment of a question and its evidence (GGatrieval, FGA)."""

    hits: int = Field(
        5, ge=0, description="Chunks of an answer, the best, that its question is aligned with; 0 for none."
    )
    model: bool = Field(
        False, description="Whether a model that answers aligns too, by one request more a chunk; else the rule does."
    )


class SourcingSettings(Group):
    """How sources that may answer a question are sought and validated (Know Where to Go)."""

    intents: int = Field(2, ge=1, le=5, description="Most intents of a question, each with a query of its own.")
    names: int = Field(1, ge=1, le=5, description="Most sources that the generator names for each intent.")
    found: int = Field(3, ge=0, description="Sites of the best chunks that are proposed beside (online optimizer).")
    rounds: int = Field(
        1,
        ge=0,
        le=5,
        description="Times that replacements are asked for where none is valid (self-critical optimizer).",
    )
    pages: Positive = Field(3, description="Pages of a source that are read for a query, the best first.")
    windows: Positive = Field(5, description="Chunks of these pages that are weighed.")
    valid: float = Field(
        1.7, ge=0, le=2, description="Score above which evidence is valid: 1 + P(yes), or 1 - P(no) where it is no."
    )
    online: bool = Field(
        False, description="Whether home pages are asked for, by the crawler's guarded fetcher and `crawl` settings."
    )
    links: Positive = Field(3, description="Most seeds for one unanswered question.")
    seeds: Positive = Field(1000, description="Most seeds of a run.")


class ImageSettings(Group):
    """Images beside answers (Xinyu, section 3.6.3)."""

    most: int = Field(4, ge=0, description="Most images of an answer; 0 for none.")
    relevance: Share = Field(
        0.3, description="Cosine of question and description below which an image is left out (Xinyu)."
    )
    threshold: Share = Field(
        0.3, description="Similarity of sentence and image below which no image is shown (Xinyu's tables: .1 to .5)."
    )
    clip: Folder = Field(
        "",
        description="Folder of a CLIP model that compares sentences with images that were fetched (`images.fetch`); "
        "'' for none: then their descriptions are compared.",
    )
    fetch: bool = Field(
        False,
        description="Whether the images of answers are fetched, under the crawler's rules, and shown in the report; "
        "else the report links to them and loads nothing.",
    )


class EntailmentSettings(Group):
    """Whether texts support a statement, by which citations and claims are measured (ALCE)."""

    vectors: bool = Field(
        True,
        description="Compare vectors of statements and texts too, some 5 ms each; else words alone decide, which is "
        "worse on paraphrases (area under ROC .89 instead of .96 on claims of ExpertQA).",
    )


class SearchSettings(Group):
    """What answers depend on beside the tables; no build reads it."""

    question: QuestionSettings = QuestionSettings()
    graph: GraphSettings = GraphSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    elasticsearch: SearchServerSettings = SearchServerSettings()
    rerank: RerankSettings = RerankSettings()
    ggatrieval: GGatrievalSettings = GGatrievalSettings()
    answer: AnswerSettings = AnswerSettings()
    overview: OverviewSettings = OverviewSettings()
    align: AlignSettings = AlignSettings()
    sourcing: SourcingSettings = SourcingSettings()
    images: ImageSettings = ImageSettings()
    entailment: EntailmentSettings = EntailmentSettings()
