"""What is fetched, how jobs run and what may be published; given the pages, no row depends on it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, field_validator

from quern.schemas.setting_group import Group, Positive, Share, setting

_SESSION_PARAMETERS = tuple(
    "phpsessid jsessionid aspsessionid sessionid session_id sessid sid zenid oscsid cfid cftoken utm_source "
    "utm_medium utm_campaign utm_term utm_content gclid fbclid".split()
)


class EngineSettings(Group):
    """How jobs are run; changes no result."""

    engine: Literal["auto", "local", "spark", "ray"] = setting(
        "local",
        "All jobs on this machine's cores, Spark or Ray; `auto`: on these where a job takes ten times their start.",
    )
    cores: NonNegativeInt = setting(0, "Cores to use; 0 for all.")
    spark_master: str = setting("", "Spark master, which then does CPU jobs; empty for local[cores].")
    spark_conf: dict[str, str] = setting(
        {}, "Further configuration of Spark, as {spark.executor.memory: 4g}; manifests keep it: no secrets."
    )
    ray_address: str = setting("", "Ray cluster, which then runs models; empty for this machine.")
    ray_init: dict[str, Any] = setting(
        {}, "Further arguments of `ray.init`, as {namespace: nightly}; manifests keep it: no secrets."
    )
    cluster_seconds: Positive = setting(25, "Seconds for a cluster to answer; more where it starts its workers first.")
    batch_rows: Positive = setting(1024, "Rows read at a time.")
    task_rows: Positive = setting(64, "Rows of one committed piece of work.")
    file_rows: Positive = setting(
        50_000, "Rows given to a job above which its workers write its table, a file for so many."
    )


class MemoSettings(Group):
    """How long results of jobs are remembered that no build uses any more; changes no result."""

    keep_nights: Positive = setting(14, "Published builds after which a result that none of them used is deleted.")


class AuditSettings(Group):
    """What a build must pass before it is published."""

    engine: Literal["arrow", "spark"] = setting(
        "arrow", "`arrow` streams in this process; `spark` is for tables too large for that."
    )
    max_reject_share: Share = setting(
        0.5, "Largest share of rejects of a job and of pages; a warning, critical where it grew by as much."
    )
    max_shrink: Share = setting(0.5, "Largest share of documents that a build may lose since the last; critical.")
    max_row_change: Share = setting(
        0.5, "Largest change of a table's rows since the last build, as a share; a warning."
    )
    max_duplicates: Share = setting(0.5, "Largest share of documents that repeat another; a warning (web: 20 to 40 %).")
    max_unknown_language: Share = setting(0.2, "Largest share of documents whose language is not known; a warning.")
    languages: tuple[str, ...] = setting((), "Languages that documents should have, ISO 639-1; empty: any.")
    max_other_language: Share = setting(0.1, "Largest share of documents in none of `languages`; a warning.")
    min_median_characters: NonNegativeInt = setting(100, "Least median length of documents; a warning.")
    max_median_characters: Positive = setting(50_000, "Largest median length of documents; a warning.")
    max_p95_characters: Positive = setting(500_000, "Largest length that 95 % of documents do not exceed; a warning.")
    min_link_recall: Share = setting(0.98, "Least recall of a graph built by partitions, on a sample; critical.")
    earliest_year: int = setting(
        1, "Dates before this year, or after tomorrow, are doubtful; a warning.", ge=1, le=9999
    )
    keep_snapshots: Positive = setting(7, "Snapshots kept; older ones are pruned after a build.")


class CrawlSettings(Group):
    """Fetching pages from the web."""

    contact: str = setting("", "Address or URL in the user agent for site owners; required.")
    scope: Literal["host", "domain", "prefix"] = setting(
        "host", "Links followed: to the seeds' hosts, their registered domains, or below the seeds' folders."
    )
    sitemaps: bool = setting(False, "Whether addresses are taken from robots.txt's sitemaps and /sitemap.xml.")
    workers: NonNegativeInt = setting(0, "Crawl processes, each with hosts of its own; 0 for one a core here.")
    max_pages: NonNegativeInt = setting(0, "Pages after which a crawl ends; 0 for no limit.")
    pages_per_host: Positive = setting(100_000, "Most pages of one host in a crawl.")
    max_depth: NonNegativeInt = setting(20, "Most links from a seed or a sitemap to a page.")
    seconds: PositiveFloat = setting(28_800.0, "Seconds after which a crawl ends, its start to the last fetch.")
    seconds_per_page: PositiveFloat = setting(30.0, "Time of one request from connecting to its last byte.")
    max_page_bytes: Positive = setting(10_000_000, "Largest page, as received and decompressed, bytes.")
    max_redirects: NonNegativeInt = setting(5, "Redirects followed in a row (RFC 9309, section 2.3.1.2: five).")
    delay: NonNegativeFloat = setting(1.0, "Least seconds between requests to a host; robots.txt may ask for more.")
    per_host: Positive = setting(1, "Requests to a host at once.")
    concurrency: Positive = setting(64, "Requests of a process at once.")
    autothrottle: bool = setting(True, "Whether slow hosts are asked less often (Scrapy's AutoThrottle).")
    max_crawl_delay: PositiveFloat = setting(120.0, "A host that asks for a longer crawl-delay is left out, seconds.")
    retries: NonNegativeInt = setting(2, "Further attempts after a timeout, a lost connection, 429 or 5xx.")
    retry_delay: NonNegativeFloat = setting(5.0, "Seconds before the first further attempt; doubled each time.")
    max_retry_after: NonNegativeFloat = setting(300.0, "Longest wait that a Retry-After header can ask for, seconds.")
    host_failures: Positive = setting(10, "Pages lost in a row after which a host is given up.")
    max_url_length: Positive = setting(2000, "Longer addresses are not followed, characters.")
    max_path_segments: Positive = setting(20, "Addresses with more folders are not followed.")
    max_repeats: Positive = setting(3, "Most times that one folder may stand in an address: link loops.")
    queries_per_path: Positive = setting(500, "Most addresses that differ in the query alone: calendars.")
    session_parameters: tuple[str, ...] = setting(
        _SESSION_PARAMETERS,
        "Parameters that name a visit, not a page: cut from addresses, whatever their case.",
    )
    sitemaps_per_host: Positive = setting(200, "Most sitemaps read of one host.")
    sitemap_urls: Positive = setting(50_000, "Most addresses of a sitemap (sitemaps.org protocol).")
    sitemap_bytes: Positive = setting(52_428_800, "Largest sitemap, decompressed (sitemaps.org protocol).")
    conditional: bool = setting(True, "Whether pages fetched before are asked for only if they changed.")
    ports: tuple[int, ...] = setting((80, 443), "Ports that links may lead to, beside those of the seeds.")
    allow_private: tuple[str, ...] = setting(
        (), "Private networks that may be fetched from, as CIDR, such as 127.0.0.0/8."
    )
    connect_to: dict[str, str] = setting({}, "Hosts that are served elsewhere, as {HOST or HOST:PORT: IP:PORT}.")
    warc_bytes: Positive = setting(1_000_000_000, "A new WARC file is begun after so many bytes.")
    commit_seconds: PositiveFloat = setting(0.5, "Time between two savings of what was fetched, seconds.")

    @field_validator("allow_private", mode="before")
    @classmethod
    def _several(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class LineageSettings(Group):
    """OpenLineage events of each build and step; changes no result."""

    events: bool = setting(True, "Whether builds write their events to `WH/lineage/BUILD_ID.jsonl`.")
    namespace: str = setting("quern", "Namespace of the jobs.", min_length=1)


class RunSettings(Group):
    """What is fetched, how jobs run and what may be published; given the pages, no row depends on it."""

    crawl: CrawlSettings = CrawlSettings()
    engine: EngineSettings = EngineSettings()
    audit: AuditSettings = AuditSettings()
    memo: MemoSettings = MemoSettings()
    lineage: LineageSettings = LineageSettings()
