"""Group `crawl`: what is fetched from the web, and how gently."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from quern.schemas.setting_group import Group, Positive


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
