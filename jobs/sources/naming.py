"""Which sources may answer a query: names and home pages (Know Where to Go, generator).

Only home pages are asked for, because longer addresses are mostly invented: of the full addresses that a model writes
39 % can be reached, of home pages 71 % (Know Where to Go). What a model names is a proposal and nothing more: its
address is cut to the home page, there are never more than were asked for, and each is validated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from quern.jobs.reasoning.prompts import disarmed
from quern.jobs.reasoning.task import Checked, Problem, Task
from quern.jobs.sources.build import host_of, origin_of

MOST_NAMES: Final = 5
_LONGEST: Final = 300


class NamedSource(BaseModel):
    """A source as it is proposed: what it is called, and its home page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    url: str

    @property
    def site(self) -> str:
        """Its host name without `www.`."""
        return host_of(self.url).removeprefix("www.")


class NamedSources(BaseModel):
    """Sources that may answer, the likeliest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: list[NamedSource] = Field(json_schema_extra={"maxItems": MOST_NAMES})


@dataclass(frozen=True)
class KnownSource:
    """A source of the pool: a row of the table `sources` with its place for a query.

    Attributes:
        site: Its key.
        name: What it calls itself; its host name where it does not say.
        url: Its home page; its key where none is known.
        topics: What it writes about.
        similarity: Score of its best chunk for the query, comparable within the query only.
    """

    site: str
    name: str
    url: str
    topics: tuple[str, ...]
    similarity: float


@dataclass(frozen=True)
class NamingInput:
    """A query for which sources are wanted.

    Attributes:
        question: The question that the query is for.
        query: The query.
        pool: Known sources, the likeliest first.
        failed: Sites that were proposed before and did not answer (self-critical optimizer).
        most: Most sources that are wanted.
    """

    question: str
    query: str
    pool: Sequence[KnownSource]
    failed: Sequence[str]
    most: int

    @property
    def identity(self) -> object:
        """All that the sources depend on."""
        return [self.question, self.query, [vars(s) for s in self.pool], [*self.failed], self.most]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        pool = [
            {"name": disarmed(s.name), "url": disarmed(s.url), "topics": disarmed(", ".join(s.topics))[:_LONGEST]}
            for s in self.pool
        ]
        asked = {"question": disarmed(self.question), "query": disarmed(self.query)}
        return {**asked, "pool": pool, "failed": [disarmed(f) for f in self.failed], "most": self.most}


PROMPT = """\
Where can this be read? {{ query }}
It is needed for the question: {{ question }}

{% for s in pool -%}
{% if loop.first %}Sources that are known:
{% endif %}- {{ s.name }}, {{ s.url }}{% if s.topics %}, about {{ s.topics }}{% endif %}
{% endfor %}
{%- for f in failed -%}
{% if loop.first %}
These did not answer; name others:
{% endif %}- {{ f }}
{% endfor %}
Name at most {{ most }} sources, the likeliest first: the name of each, and the address of its home page, without a
path. Prefer known ones; name another only if you are sure that it exists.

Return JSON: {"sources": [{"name": "...", "url": "https://..."}]}
"""


def naming(given: NamingInput) -> NamedSources:
    """By rule: the sources of the pool that come first and have not failed."""
    likely = [s for s in given.pool if s.site not in given.failed][: given.most]
    return NamedSources(sources=[NamedSource(name=s.name, url=s.url) for s in likely])


def checked(given: NamingInput, output: NamedSources) -> Checked[NamedSources]:
    """The first `most` that have a name and the address of a site that has not failed, cut to the home page."""
    pooled = {s.url: s for s in given.pool}
    kept: dict[str, NamedSource] = {}
    for source in output.sources:
        home = source.url if source.url in pooled else origin_of(source.url.strip())
        named = NamedSource(name=source.name.strip()[:_LONGEST], url=home[:_LONGEST]) if home else None
        if named is None or not named.name or len(kept) == given.most:
            continue
        site = pooled[named.url].site if named.url in pooled else named.site
        if site not in given.failed:
            kept.setdefault(named.url, named)
    if not kept and output.sources:
        return Checked(None, (Problem("no_home_page", "write addresses of home pages, like https://site.example/"),))
    return Checked(NamedSources(sources=list(kept.values())))


NAMING: Final = Task("source_naming", 1, PROMPT, NamedSources, naming, checked)
