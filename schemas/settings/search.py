"""What answers depend on beside the tables; no build reads it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, field_validator

from quern.schemas.addresses import http_address
from quern.schemas.setting_group import Cosine, Device, Folder, Group, ModelName, Positive, Share, setting

Category = Literal[
    "illegal_content", "ethical_violations", "privacy_breaches", "harmful_intent", "professional_consultations",
    "human_ai_interactions", "misinformation", "technical_inquiries", "academic_requests", "planning_and_consulting",
    "creative_content",
]  # fmt: skip
"""What a question may be refused as (Xinyu AI Search, section on query preprocessing)."""


class QuestionSettings(Group):
    """How a question is preprocessed before the search (Xinyu AI Search, query preprocessing)."""

    refused: tuple[Category, ...] = setting(
        ("illegal_content", "ethical_violations", "privacy_breaches", "harmful_intent"),
        "Categories of questions that are refused, of the eleven of Xinyu AI Search.",
    )
    rewrite: bool = setting(
        True, "Put its days behind a relative time (`last month (October 2026)`); a model also completes names."
    )
    decompose: bool = setting(True, "Take complex questions apart into a graph of sub-questions (GraTAG, 3.2).")
    now: date | None = setting(None, "The day that `last month` counts from; none: that of the snapshot.")
    max_characters: Positive = setting(2000, "A longer question is rejected.")


class GraphSettings(Group):
    """How a question finds chunks in the query-centric graph (QCG-RAG, section 4, defaults of MultiHop-RAG)."""

    hops: int = setting(1, "h: hops along neighbour edges.", ge=0, le=4)
    n: Positive = setting(15, "Most nodes that a question is matched to.")
    gamma: float = setting(1.0, "Least cos(question, node) + 1 of a matched node.", ge=0.0, le=2.0)
    score: Literal["mean", "max", "sum"] = setting(
        "mean", "How nodes' similarities make a chunk's score (paper: mean)."
    )


class RetrieveSettings(Group):
    """What a question gets back.

    The weights were chosen on LiHua-World and MuSiQue, as round numbers in the middle of a plateau.
    """

    sources: tuple[Literal["graph", "vectors", "text", "elasticsearch"], ...] = setting(
        ("graph", "vectors", "text"),
        "What `hybrid` and `bridge` search; `elasticsearch` stands for vectors and text, on a server.",
    )
    where: tuple[str, ...] = setting(
        (), "Conditions on documents: `site=example.org`, `published_at>=2024-05-01`, `language!=en`."
    )
    as_of: date | None = setting(
        None, "Only documents dated by this day are evidence, and relative times count from it."
    )
    top_k: Positive = setting(5, "K: chunks given to the answer (QCG-RAG, section 4).")
    vectors_in_memory: Positive = setting(
        1_000_000,
        "Vectors of a table that are compared in memory; more lie on disk, and the likeliest partitions are searched.",
        how=True,
    )
    depth: Positive = setting(200, "Chunks that each part of a fusion is asked for.")
    weight_dense: NonNegativeFloat = setting(0.3, "Weight of the cosine of a chunk in `hybrid`.")
    weight_bm25: NonNegativeFloat = setting(
        0.4, "Weight of BM25 in `hybrid`, as a share of the best score of the question."
    )
    weight_nodes: NonNegativeFloat = setting(0.7, "Weight of the cosine of a chunk's best node in `hybrid`.")
    deduplicate_above: Share = setting(
        0.98, "Cosine of two chunks above which the better stays (paper: .8, of bge-large; see docs/howto/models.md)."
    )
    document_share: Share = setting(0.5, "Share of its document in the score of a chunk.")
    weight_clauses: NonNegativeFloat = setting(
        0.5, "Weight of the best clause of a question of several (`A before B`)."
    )
    weight_expansions: NonNegativeFloat = setting(
        0.0, "Weight in `hybrid` of the best expansion that a model writes; by rule, recall fell."
    )
    weight_bridges: tuple[NonNegativeFloat, ...] = setting(
        (0.4, 0.3, 0.3), "Weights of `mention` edges from the best documents in `bridge`, one a round."
    )
    weight_names: NonNegativeFloat = setting(
        0.3, "Weight in `bridge` of a rare name shared with one of the best documents."
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

    kind: Literal["elasticsearch", "opensearch"] = setting("elasticsearch", "Kind of the server.", how=True)
    url: str = setting("http://127.0.0.1:9200", "Its address, without credentials.", how=True)
    index: str = setting(
        "quern-chunks",
        "Alias that is searched: that of the table `chunks`.",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$",
        how=True,
    )
    timeout: PositiveFloat = setting(60.0, "Seconds for one try of a request.", how=True)
    tries: Positive = setting(6, "Tries of a request after 408, 429, 502, 503, 504 or a lost connection.", how=True)

    @field_validator("url")
    @classmethod
    def _without_credentials(cls, url: str) -> str:
        return http_address(url, "environment variables have the credentials")


class RerankSettings(Group):
    """Reranking by a cross-encoder (Xinyu AI Search, section 3.4); without a model the fusion's order stays."""

    model: ModelName = setting("", "Cross-encoder, a name or folder such as `BAAI/bge-reranker-v2-m3`; '' for none.")
    device: Device = setting("cpu", "Where it runs: `cpu`, or a GPU as `cuda` or `cuda:1`.")
    depth: Positive = setting(50, "Chunks of a question that it reads, the best of the fusion.")
    max_tokens: Positive = setting(512, "Longest pair of question and chunk it is given; chunks are cut.")
    batch: NonNegativeInt = setting(0, "Most pairs in one call of the model; 0 for 16, on GPUs 256.", how=True)


class GGatrievalSettings(Group):
    """The recipe `ggatrieval` (GGatrieval, the loop of its search)."""

    rounds: Positive = setting(4, "T: most rounds of a question (GGatrieval).")
    documents: Positive = setting(5, "N: chunks that each further query is asked for (GGatrieval).")
    candidates: Positive = setting(50, "Chunks of a question that are aligned in a round (GGatrieval).")
    similar: Share = setting(
        0.66, "tau: share of constituents from which a chunk, else a model's passage, joins the next question."
    )
    window: Positive = setting(20, "Candidates that selection looks at together (GGatrieval).")
    keep: Positive = setting(5, "k: chunks that selection keeps (GGatrieval).")


class AnswerSettings(Group):
    """Answers by the reader or a language model."""

    sentences: Positive = setting(3, "Most sentences that carry the short answer.")
    risk: float = setting(
        0.45, "Accepted probability that the evidence does not answer; above it, a question is refused.", ge=0, le=1
    )
    windows: int = setting(
        2, "Windows of lines that the reader reads, some 0.1 s each; 0: lines by shared words answer.", ge=0, le=8
    )
    precision: Literal["f32", "bf16"] = setting(
        "f32", "Of the reader: `f32` runs on every processor, `bf16` twice as fast with AVX-512 BF16 or AMX."
    )
    chunks: Positive = setting(3, "Chunks of the evidence that a language model is shown whole, the best.")
    triplets: NonNegativeInt = setting(
        0, "Most triplets that a model gets beside the passages (TAG: GraTAG, 3.3), by shared words; 0 for none."
    )


class OverviewSettings(Group):
    """Answers about a whole corpus: the recipe `global`."""

    near: Cosine = setting(
        0.36,
        "Mean cosine with its ten nearest nodes from which on a constituent is a topic: 37 of 52 topics, 6 of 130 "
        "others.",
    )
    topics: Positive = setting(6, "Most communities of an answer.")
    sentences: Positive = setting(12, "Most sentences of an answer.")
    shown: Positive = setting(60, "Most sentences that a model is shown for a question, of all communities.")


class AlignSettings(Group):
    """Fine-grained alignment of a question and its evidence (GGatrieval, FGA)."""

    hits: NonNegativeInt = setting(5, "Chunks of an answer, the best, that its question is aligned with; 0 for none.")
    model: bool = setting(False, "Whether a model aligns too, by a request more a chunk.")


class SourcingSettings(Group):
    """How sources that may answer a question are sought and validated (Know Where to Go)."""

    intents: int = setting(2, "Most intents of a question, each with a query of its own.", ge=1, le=5)
    names: int = setting(1, "Most sources that the generator names for each intent.", ge=1, le=5)
    found: NonNegativeInt = setting(3, "Sites of the best chunks that are proposed beside (online optimizer).")
    rounds: int = setting(
        1, "Times that replacements are asked for where none is valid (self-critical optimizer).", ge=0, le=5
    )
    pages: Positive = setting(3, "Pages of a source that are read for a query, the best first.")
    windows: Positive = setting(5, "Chunks of these pages that are weighed.")
    valid: float = setting(1.7, "Score above which evidence is valid: 1 + P(yes), or 1 - P(no).", ge=0, le=2)
    online: bool = setting(False, "Whether home pages are asked for, by the crawler's guarded fetcher.")
    links: Positive = setting(3, "Most seeds for one unanswered question.")
    seeds: Positive = setting(1000, "Most seeds of a run.")


class ImageSettings(Group):
    """Images beside answers (Xinyu, section 3.6.3)."""

    most: NonNegativeInt = setting(4, "Most images of an answer; 0 for none.")
    relevance: Share = setting(0.3, "Cosine of question and description below which an image is left out (Xinyu).")
    threshold: Share = setting(0.3, "Similarity of sentence and image below which none is shown (Xinyu: .1 to .5).")
    clip: Folder = setting(
        "", "Folder of a CLIP model for images that were fetched; '' for none: descriptions are compared."
    )
    fetch: bool = setting(
        False, "Whether images of answers are fetched, by the crawler's rules, and shown; else linked to."
    )


class EntailmentSettings(Group):
    """Whether texts support a statement, by which citations and claims are measured (ALCE)."""

    vectors: bool = setting(True, "Compare vectors too, some 5 ms each: AUC .96 instead of .89 on ExpertQA.")


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
