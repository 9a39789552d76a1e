"""What is fetched, how jobs run and what may be published; given the pages, no row depends on it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from quern.schemas.setting_group import Group, Positive, Share


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
    spark_conf: dict[str, str] = Field(
        {},
        description="Further configuration of Spark, such as {spark.executor.memory: 4g}. Manifests keep it: no "
        "secrets.",
    )
    ray_address: str = Field(
        "", description="Ray cluster, which then embeds and searches neighbours by partitions; empty for this machine."
    )
    ray_init: dict[str, Any] = Field(
        {}, description="Further arguments of `ray.init`, such as {namespace: nightly}. Manifests keep it: no secrets."
    )
    cluster_seconds: Positive = Field(
        25, description="Seconds for a cluster to answer; more where it starts its workers first (YARN, Kubernetes)."
    )
    ray_object_store: Positive = Field(256, description="Object store of a local Ray, MiB.")
    batch_rows: Positive = Field(1024, description="Rows read at a time.")
    task_rows: Positive = Field(64, description="Rows of one committed piece of work.")
    file_rows: Positive = Field(
        50_000, description="Rows given to a job above which its workers write the table it makes, a file for so many."
    )


class MemoSettings(Group):
    """How long results of jobs are remembered that no build uses any more; changes no result."""

    keep_nights: Positive = Field(
        14,
        description="Results that none of this many latest published builds used are deleted, by each published build "
        "and by `quern vacuum`; newer results stay.",
    )


class AuditSettings(Group):
    """What a build must pass before it is published."""

    engine: Literal["arrow", "spark"] = Field(
        "arrow", description="What computes: `arrow` streams in this process, `spark` for tables too large for that."
    )
    max_reject_share: Share = Field(
        0.5,
        description="Largest share of a job's input, and of all pages, that may be rejected; a warning. Critical where "
        "all is rejected, or where the share that is kept fell by more than this against the published snapshot.",
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


class CrawlSettings(Group):
    """Fetching pages from the web."""

    contact: str = Field("", description="Address or URL in the user agent for site owners; required.")
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
        tuple(
            "phpsessid jsessionid aspsessionid sessionid session_id sessid sid zenid oscsid cfid cftoken utm_source "
            "utm_medium utm_campaign utm_term utm_content gclid fbclid".split()
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


class LineageSettings(Group):
    """OpenLineage events of each build and step; changes no result."""

    events: bool = Field(True, description="Whether builds write their events to `WH/lineage/BUILD_ID.jsonl`.")
    namespace: str = Field("quern", min_length=1, description="Namespace of the jobs.")


class RunSettings(Group):
    """What is fetched, how jobs run and what may be published; given the pages, no row depends on it."""

    crawl: CrawlSettings = CrawlSettings()
    engine: EngineSettings = EngineSettings()
    audit: AuditSettings = AuditSettings()
    memo: MemoSettings = MemoSettings()
    lineage: LineageSettings = LineageSettings()
