"""The groups of settings: every threshold with its default, its meaning and its source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]


class Group(BaseModel):
    """A group of settings: closed, immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CrawlSettings(Group):
    """Fetching pages from the web."""

    contact: str = Field("", description="Address or URL in the user agent that site owners can turn to; needed.")
    scope: Literal["host", "domain", "prefix"] = Field(
        "host",
        description="Links followed: to the seeds' hosts, their registered domains, or below the seeds' folders.",
    )
    sitemaps: bool = Field(
        False, description="Whether addresses are taken from robots.txt's sitemaps and /sitemap.xml."
    )
    workers: int = Field(0, ge=0, description="Crawl processes, each with hosts of its own; 0 for one a core here.")
    max_pages: int = Field(0, ge=0, description="Pages after which a crawl ends; 0 for no limit.")
    pages_per_host: Positive = Field(100_000, description="Most pages of one host in a crawl.")
    max_depth: int = Field(20, ge=0, description="Most links from a seed or a sitemap to a page.")
    seconds: float = Field(28_800.0, gt=0, description="Seconds after which a crawl ends, its start to the last fetch.")
    seconds_per_page: float = Field(30.0, gt=0, description="Time of one request from connecting to its last byte.")
    max_page_bytes: Positive = Field(10_000_000, description="Largest page, as received and decompressed, bytes.")
    max_redirects: int = Field(5, ge=0, description="Redirects followed in a row (RFC 9309, section 2.3.1.2: five).")
    delay: float = Field(
        1.0, ge=0, description="Least seconds between requests to a host; robots.txt may ask for more."
    )
    per_host: Positive = Field(1, description="Requests to a host at once.")
    concurrency: Positive = Field(64, description="Requests of a process at once.")
    autothrottle: bool = Field(True, description="Whether slow hosts are asked less often (Scrapy's AutoThrottle).")
    max_crawl_delay: float = Field(
        120.0, gt=0, description="A host whose robots.txt asks for a longer crawl-delay is left out, seconds."
    )
    retries: int = Field(2, ge=0, description="Further attempts after a timeout, a lost connection, 429 or 5xx.")
    retry_delay: float = Field(5.0, ge=0, description="Seconds before the first further attempt; doubled each time.")
    max_retry_after: float = Field(
        300.0, ge=0, description="Longest wait that a Retry-After header can ask for, seconds."
    )
    host_failures: Positive = Field(10, description="Pages lost in a row after which a host is given up.")
    max_url_length: Positive = Field(2000, description="Longer addresses are not followed, characters.")
    max_path_segments: Positive = Field(20, description="Addresses with more folders are not followed.")
    max_repeats: Positive = Field(3, description="Most times that one folder may stand in an address: link loops.")
    queries_per_path: Positive = Field(500, description="Most addresses that differ in the query alone: calendars.")
    session_parameters: tuple[str, ...] = Field(
        (
            *("phpsessid", "jsessionid", "aspsessionid", "sessionid", "session_id", "sessid", "sid", "zenid", "oscsid"),
            *(
                "cfid",
                "cftoken",
                "utm_source",
                "utm_medium",
                "utm_campaign",
                "utm_term",
                "utm_content",
                "gclid",
                "fbclid",
            ),
        ),
        description="Parameters that name a visit, not a page: cut from addresses, whatever their case.",
    )
    sitemaps_per_host: Positive = Field(200, description="Most sitemaps read of one host.")
    sitemap_urls: Positive = Field(50_000, description="Most addresses of a sitemap (sitemaps.org protocol).")
    sitemap_bytes: Positive = Field(52_428_800, description="Largest sitemap, decompressed (sitemaps.org protocol).")
    conditional: bool = Field(True, description="Whether pages fetched before are asked for only if they changed.")
    ports: tuple[int, ...] = Field((80, 443), description="Ports that links may lead to, beside those of the seeds.")
    allow_private: tuple[str, ...] = Field(
        (), description="Private networks that may be fetched from, as CIDR, for example 127.0.0.0/8; else none."
    )
    connect_to: dict[str, str] = Field(
        default_factory=dict,
        description="Hosts that are served elsewhere, as {HOST or HOST:PORT: IP:PORT}, like curl's --connect-to.",
    )
    warc_bytes: Positive = Field(1_000_000_000, description="A new WARC file is begun after so many bytes.")
    commit_seconds: float = Field(0.5, gt=0, description="Time between two savings of what was fetched, seconds.")

    @field_validator("allow_private", mode="before")
    @classmethod
    def _several(cls, given: object) -> object:
        """A single network may be given without a list."""
        return (given,) if isinstance(given, str) else given


class IngestSettings(Group):
    """Reading of folders, JSONL and WARC files."""

    max_page_bytes: Positive = Field(
        10_000_000, description="Largest page in bytes, decompressed; larger ones are rejected."
    )
    max_ratio: Positive = Field(
        200, description="Largest decompressed/compressed ratio of a compressed file over 1 MB."
    )
    task_bytes: Positive = Field(
        64 << 20, description="Bytes of files that one task reads; larger archives are split at their records."
    )


class CleanSettings(Group):
    """Main text and metadata of pages."""

    seconds_per_page: float = Field(20.0, gt=0, description="Time limit of one page in its child process, seconds.")
    memory_per_page: Positive = Field(
        2048, description="Address space that the child process may add while parsing, MiB."
    )
    min_characters: int = Field(60, ge=0, description="A page whose main text is shorter is rejected as `no_text`.")
    max_characters: Positive = Field(5_000_000, description="A longer main text is rejected as `too_long`.")


class NormaliseSettings(Group):
    """Text of documents: one form of characters and numbers, without noise and personal data (Xinyu, suppl. C)."""

    noise: bool = Field(True, description="Whether emoji, format characters and `Read more` lines are left out.")
    noise_phrases: tuple[str, ...] = Field((), description="Further phrases left out as `Read more` is.")
    punctuation: Literal["outside_cjk", "all"] = Field(
        "outside_cjk",
        description="Full-width punctuation made half-width: all, as in Xinyu, or not the commas and sentence ends of "
        "Chinese, Japanese and Korean text.",
    )
    chinese_numerals: bool = Field(True, description="Chinese numerals as Arabic digits, in Chinese texts (Xinyu).")
    number_words: bool = Field(False, description="English numbers of two words and more as digits: twenty-five.")
    repeated_documents: int = Field(
        5, ge=2, description="A line in fewer documents of a site than this is no boilerplate."
    )
    repeated_share: Share = Field(0.3, description="Nor is one in a smaller share of the site's documents.")
    repeated_characters: Positive = Field(200, description="Nor is a longer line.")
    repeated_of_text: Share = Field(
        0.5, description="Where repeated lines are a larger share of a document's text than this, all of them stay."
    )
    personal_data: Literal["mark", "remove", "keep"] = Field(
        "mark", description="What becomes of personal data: a typed mark such as [EMAIL], nothing, or as it is."
    )
    personal_data_types: tuple[
        Literal["EMAIL", "PHONE", "IBAN", "NATIONAL_ID", "CREDIT_CARD", "SSN", "IP", "HANDLE"], ...
    ] = Field(
        ("EMAIL", "PHONE", "IBAN", "NATIONAL_ID", "CREDIT_CARD", "SSN", "IP", "HANDLE"),
        description="Types of personal data that are looked for.",
    )


class QualitySettings(Group):
    """Rules that the text of a web page must pass, in the manner of Gopher, C4 and FineWeb.

    The papers filter what a model is trained on; a search corpus needs short notices, tables and lists too. So
    lengths and rules of shape are looser here; each description names the paper's value.
    """

    enabled: bool = Field(True, description="Whether the rules are applied.")
    min_words: int = Field(5, ge=0, description="Least words; two Chinese characters are one (Gopher, A1: 50).")
    short_words: float = Field(2.5, ge=0, description="Least mean length of English words (Gopher, A1: 3).")
    long_words: float = Field(12.0, ge=0, description="Greatest mean length of English words (Gopher, A1: 10).")
    symbols: float = Field(0.1, ge=0, description="Most # signs and ellipses a word, each (Gopher, A1: 0.1).")
    bullets: Share = Field(1.0, description="Most lines that start with a bullet; 1 for no limit (Gopher, A1: 0.9).")
    ellipsis: Share = Field(0.5, description="Most lines that end with an ellipsis (Gopher, A1: 0.3).")
    letters: Share = Field(0.3, description="Least share of words with a letter; tables have few (Gopher, A1: 0.8).")
    stop_words: int = Field(2, ge=0, description="Least stop words, of `stop_words_from` words on (Gopher, A1: 2).")
    stop_words_from: int = Field(100, ge=0, description="Words of a text from which it must have stop words.")
    repetition_from: int = Field(
        80, ge=0, description="Words of a text from which the rules on repetition hold; a short notice may repeat."
    )
    duplicate_lines: Share = Field(0.75, description="Most lines that repeat an earlier line (Gopher, A1: 0.3).")
    duplicate_line_characters: Share = Field(0.6, description="Most characters in such lines (Gopher, A1: 0.2).")
    top_ngrams: tuple[Share, ...] = Field(
        (0.2, 0.18, 0.16), description="Most characters in the commonest 2-, 3- and 4-gram (Gopher, A1)."
    )
    duplicate_ngrams: tuple[Share, ...] = Field(
        (0.8, 0.8, 0.78, 0.77, 0.76, 0.75),
        description="Most characters in repeated 5- to 10-grams; a register repeats its wording in every row "
        "(Gopher, A1: 0.15 to 0.10).",
    )
    curly: Share = Field(0.01, description="Most braces a character (C4, section 2.2, rejects a page with one).")
    lorem_ipsum: Positive = Field(
        2000, description="`Lorem ipsum` may stand once in so many characters (C4, section 2.2: never)."
    )
    short_lines: Share = Field(
        1.0, description="Most lines under 30 characters; 1 for no limit, lists are content (FineWeb, 3.6: 0.67)."
    )
    line_ends: Share = Field(
        0.0, description="Least lines that end with punctuation; tables have none (FineWeb, section 3.6: 0.12)."
    )


class DeduplicateSettings(Group):
    """Exact and near duplicates."""

    similarity: float = Field(
        0.8, gt=0.0, le=1.0, description="Least Jaccard similarity of word shingles of near duplicates."
    )
    shingle: Positive = Field(
        5, description="Words of a shingle; characters in scripts without spaces (GPT-3 and FineWeb take 5 words)."
    )
    bands: Annotated[int, Field(ge=1, le=256)] = Field(
        20, description="b: bands of a MinHash signature; pairs of similarity s are compared with odds 1 - (1 - s^r)^b."
    )
    rows: Annotated[int, Field(ge=1, le=64)] = Field(
        8, description="r: values of a band; 20 bands of 8 find .998 of the pairs at s = .85, .975 at .8, .08 at .5."
    )
    min_shingles: Positive = Field(
        10, description="A text with fewer distinct shingles is compared for exact duplicates only."
    )
    bucket: Annotated[int, Field(ge=2, le=1024)] = Field(
        16, description="Of texts that share a band so many are compared with one another, all pairs."
    )
    neighbours: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="Further texts that share it are compared with so many beside them..."
    )
    representatives: Annotated[int, Field(ge=1, le=64)] = Field(
        3, description="...and with so many of the first ones, so that a huge bucket stays linear."
    )
    local_below: int = Field(
        200_000,
        ge=0,
        description="With engine `auto`, fewer documents than this are compared in this process; changes no result.",
    )


class ChunkSettings(Group):
    """Cutting documents into chunks."""

    tokens: Positive = Field(
        350, description="Most tokens of a chunk, of the embedder's tokenizer (Xinyu, section 3.4)."
    )
    overlap: float = Field(
        0.25, ge=0.0, lt=0.9, description="Share of a chunk that repeats the one before (Xinyu, section 3.4)."
    )


class GeneratorSettings(Group):
    """What carries out reasoning steps: rules, a model behind an endpoint, or a model on this cluster's GPUs."""

    kind: Literal["rules", "openai", "vllm"] = Field(
        "rules",
        description="`rules` needs no model; `openai` is any OpenAI-compatible endpoint; `vllm` runs a model in "
        "batches on GPUs, through Ray.",
    )
    model: str = Field("", description="Name that the endpoint knows the model by; with `vllm` a name or a path.")
    url: str = Field("http://127.0.0.1:8000/v1", description="Address of the endpoint, up to and with its version.")
    key_variable: str = Field(
        "OPENAI_API_KEY",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable that holds the key; the key itself is no setting, because settings are kept.",
    )
    concurrency: Positive = Field(32, description="Requests at the endpoint at once.")
    timeout: float = Field(120.0, gt=0, description="Seconds for one try of a request, to the end of its reply.")
    tries: Positive = Field(
        6,
        description="Tries of a request after 429, 5xx or a lost connection; pauses grow, or are as Retry-After says.",
    )
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="Times that a step is asked for again, with what was wrong with the reply.",
    )
    response_format: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the endpoint is held to JSON: by the output's schema where it can."
    )
    max_tokens: Positive = Field(2048, description="Most tokens of a reply.")
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="What the endpoint calls `max_tokens`; newer models of OpenAI take only the latter."
    )
    temperature: float | None = Field(
        0.0, ge=0.0, le=2.0, description="Sampling temperature; null leaves it to the endpoint."
    )
    top_p: float | None = Field(None, gt=0.0, le=1.0, description="Nucleus sampling; null leaves it to the model.")
    seed: int | None = Field(0, description="Seed of the sampling; null for none.")
    extra: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of the request's body, such as {reasoning_effort: low}."
    )
    device: Literal["cuda", "cpu"] = Field("cuda", description="With `vllm`: where the model runs.")
    dtype: str = Field("auto", description="With `vllm`: numbers of the model; `auto` takes the model's own.")
    tensor_parallel: Positive = Field(1, description="With `vllm`: GPUs that one copy of the model is spread over.")
    replicas: Positive = Field(1, description="With `vllm`: copies of the model.")
    batch: Positive = Field(256, description="With `vllm`: requests given to a copy at a time.")
    max_model_len: int = Field(0, ge=0, description="With `vllm`: longest prompt and reply, tokens; 0 for the model's.")
    patience: float = Field(
        1800.0,
        gt=0,
        description="With `vllm`: seconds without any reply, the model's loading included, before it stops.",
    )
    gpu_memory: float | None = Field(
        None, gt=0.0, le=1.0, description="With `vllm`: share of the memory taken; null for 0.9 of GPUs, 0.2 of others."
    )
    price_prompt: float | None = Field(
        None, ge=0, description="Price of a million prompt tokens, in any currency, for `quern estimate`."
    )
    price_output: float | None = Field(None, ge=0, description="The same of output tokens.")
    output_speed: float | None = Field(
        None,
        gt=0,
        description="Output tokens a second of all copies, all in all, as a build reports, for `quern estimate`.",
    )

    @field_validator("url")
    @classmethod
    def _no_secret(cls, url: str) -> str:
        """A snapshot keeps its settings, so no password may stand in them."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write it like http://127.0.0.1:8000/v1")
        if parts.username or parts.password or parts.query:
            raise ValueError("put the key into the environment, not into the address: see generator.key_variable")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _named(self) -> GeneratorSettings:
        if self.kind != "rules" and not self.model:
            raise ValueError(f"generator.kind={self.kind} needs generator.model")
        return self


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
    min_similarity: float = Field(
        0.5,
        ge=-1.0,
        le=1.0,
        description="With scope `absolute`, the least cosine of a kept pair with its chunk; of rule-made pairs, 0.5 "
        "with MiniLM keeps .74 of chats' and .98 of short articles'.",
    )


class EmbedSettings(Group):
    """The embedding model."""

    model: str = Field(
        "all-MiniLM-L6-v2", description="sentence-transformers model: the packaged default, a name or a path."
    )
    engine: Literal["openvino", "torch", "flag"] = Field(
        "openvino", description="What runs the model; `flag` is FlagEmbedding, for BGE and the dense vectors of BGE-M3."
    )
    device: str = Field(
        "cpu",
        pattern=r"^(cpu|cuda(:\d+)?)$",
        description="Where torch and flag run: `cpu`, or a GPU as `cuda` or `cuda:1`.",
    )
    precision: Literal["auto", "f32", "bf16", "f16", "int8", "int8_f32"] = Field(
        "auto",
        description="`auto`: f16 on GPUs, bf16 with OpenVINO where the processor has it, else f32. `int8` is a third "
        "faster with VNNI, but costs recall: see the README; `int8_f32` is for processors without bf16.",
    )
    max_tokens: Positive = Field(512, description="Longest text the model is given, raised from MiniLM's 256.")
    batch: int = Field(0, ge=0, description="Most texts in one call of the model; 0 for 32, on GPUs 1,024.")
    threads: int = Field(0, ge=0, description="Threads of one worker; 0 for all cores.")

    @field_validator("model")
    @classmethod
    def _absolute(cls, model: str) -> str:
        """A path holds from everywhere, also when the snapshot is searched from another directory."""
        return str(Path(model).absolute()) if Path(model).is_dir() else model


class GraphSettings(Group):
    """The query-centric graph and retrieval in it (QCG-RAG, sections 3 and 4, defaults of MultiHop-RAG)."""

    k: Positive = Field(3, description="Nearest neighbours that a node is joined to.")
    direction: Literal["directed", "symmetric", "mutual"] = Field(
        "directed",
        description="Neighbour edges: each node to its k nearest; the same both ways; or where both are among the k.",
    )
    min_similarity: float = Field(
        -1.0, ge=-1.0, le=1.0, description="Least cosine of neighbours; -1 for none, as in the paper."
    )
    same_chunk: bool = Field(True, description="Whether neighbour edges may join nodes of one chunk.")
    answers: int = Field(
        0,
        ge=0,
        description="Edges of kind `answer_question` of a node: its answer to questions near it; 0 for none.",
    )
    mentions: int = Field(
        5, ge=0, description="Edges of kind `mention` of a node: to documents whose title its text names; 0 for none."
    )
    mention_documents: Positive = Field(
        20, description="A title that more documents share is of none in particular and joins none."
    )
    hops: int = Field(1, ge=0, le=4, description="h: hops along neighbour edges.")
    n: Positive = Field(15, description="Most nodes that a question is matched to.")
    gamma: float = Field(1.0, ge=0.0, le=2.0, description="Least cos(question, node) + 1 of a matched node.")
    score: Literal["mean", "max", "sum"] = Field(
        "mean", description="How nodes' similarities make a chunk's score; the paper takes the mean."
    )


class LinkSettings(Group):
    """How neighbours are found."""

    exact_below: int = Field(
        200_000, ge=0, description="Fewer different vectors than this are compared all with all; more by partitions."
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
        4, ge=0, description="Further neighbours kept of a node, so that a deleted one is replaced; changes no edge."
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto",
        description="Where all are compared with all; `auto`: a GPU where there is one. Partitions are on processors. "
        "Changes no edge.",
    )


class RetrieveSettings(Group):
    """What a question gets back.

    The weights were chosen on LiHua-World and MuSiQue, as round numbers in the middle of a plateau.
    """

    top_k: Positive = Field(5, description="K: chunks given to the answer (QCG-RAG, section 4).")
    depth: Positive = Field(200, description="Chunks that each part of a fusion is asked for.")
    weight_dense: float = Field(0.3, ge=0, description="Weight of the cosine of a chunk in `hybrid`.")
    weight_bm25: float = Field(
        0.4, ge=0, description="Weight of BM25 in `hybrid`, as a share of the best score of the question."
    )
    weight_nodes: float = Field(0.7, ge=0, description="Weight of the cosine of a chunk's best node in `hybrid`.")
    document_share: Share = Field(
        0.5, description="Share of its document in the score of a chunk: the best that each part found in it."
    )
    weight_clauses: float = Field(
        0.5, ge=0, description="Weight of the best clause of a question that falls into several (`A before B`)."
    )
    weight_mentions: float = Field(
        0.3, ge=0, description="Weight of `mention` edges from a question's best documents in `bridge`."
    )
    weight_answers: float = Field(
        0.3, ge=0, description="Weight of `answer_question` edges from a question's best documents in `bridge-answers`."
    )


class AnswerSettings(Group):
    """Answers by rules."""

    sentences: Positive = Field(3, description="Most sentences of an answer.")
    min_score: float = Field(
        0.42, ge=0, le=1, description="Evidence below this is too weak: the answer is that the corpus does not say."
    )


class AuditSettings(Group):
    """What a build must pass before it is published."""

    engine: Literal["arrow", "spark"] = Field(
        "arrow", description="What computes: `arrow` streams in this process, `spark` for tables too large for that."
    )
    max_reject_share: Share = Field(
        0.5, description="Largest share of a job's input, and of all pages, that may be rejected; critical."
    )
    max_shrink: Share = Field(
        0.5, description="Largest share of documents that a build may lose against the published snapshot; critical."
    )
    max_row_change: Share = Field(
        0.5, description="Largest change of a table's rows against the published snapshot, as a share; a warning."
    )
    max_duplicates: Share = Field(
        0.5, description="Largest share of documents that repeat another; a warning (web crawls have 20 to 40 %)."
    )
    max_unknown_language: Share = Field(
        0.2, description="Largest share of documents whose language is not known; a warning."
    )
    languages: tuple[str, ...] = Field((), description="Languages that documents should have, ISO 639-1; empty: any.")
    max_other_language: Share = Field(
        0.1, description="Largest share of documents in none of `languages`, where those are given; a warning."
    )
    min_median_characters: int = Field(100, ge=0, description="Least median length of documents; a warning.")
    max_median_characters: Positive = Field(50_000, description="Largest median length of documents; a warning.")
    max_p95_characters: Positive = Field(
        500_000, description="Largest length that 95 % of documents do not exceed; a warning."
    )
    min_link_recall: Share = Field(
        0.98,
        description="Least share of true neighbours that a graph built by partitions may find, on a sample; critical.",
    )
    earliest_year: int = Field(
        1, ge=1, le=9999, description="Dates before this year are doubtful, as are those after tomorrow; a warning."
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
    ray_address: str = Field(
        "", description="Ray cluster; empty for one on this machine. `link` spreads partitions over it."
    )
    ray_object_store: Positive = Field(256, description="Object store of a local Ray, MiB.")
    batch_rows: Positive = Field(1024, description="Rows read at a time.")
    local_below: int = Field(
        32, ge=0, description="With `auto`, fewer missing rows than this are done in this process."
    )
    task_rows: Positive = Field(64, description="Rows of one committed piece of work.")
