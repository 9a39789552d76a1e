"""What a generator is asked for about sources (Know Where to Go, generator): intents, names, and whether these agree.

A question's intents have a query each; for each query sources are named, with their home pages. Only home pages are
asked for, because longer addresses are mostly invented: of the full addresses that a model writes 39 % can be reached,
of home pages 71 %. What a model names is a proposal: its address is cut to the home page, there are never more than
were asked for, and each is validated. Agreement, whether name and address belong together, is the
generator's check of itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from quern.jobs.reasoning.questions.plan import parts_alone
from quern.jobs.sources.build import host_of, origin_of
from quern.jobs.tasks.prompts import disarmed
from quern.jobs.tasks.task import Checked, OutputModel, Problem, Task
from quern.schemas.words.terms import STOP_WORDS, search_terms

_LONGEST: Final = 300


class NamedSource(OutputModel):
    """A source as it is proposed: what it is called, and its home page."""

    name: str
    url: str

    @property
    def site(self) -> str:
        """Its host name without `www.`."""
        return host_of(self.url).removeprefix("www.")


class NamedSources(OutputModel):
    """Sources that may answer, the likeliest first."""

    sources: list[NamedSource] = Field(json_schema_extra={"maxItems": 5})


@dataclass(frozen=True)
class KnownSource:
    """A source of the pool: a row of the table `sources` with its place for a query."""

    site: str  # Its key.
    name: str  # What it calls itself; its host name where it does not say.
    url: str  # Its home page; its key where none is known.
    topics: tuple[str, ...]  # What it writes about.
    similarity: float  # Score of its best chunk for the query, comparable within the query only.


@dataclass(frozen=True)
class NamingInput:
    """A query for which sources are wanted."""

    question: str  # The question that the query is for.
    query: str
    pool: Sequence[KnownSource]  # Known sources, the likeliest first.
    failed: Sequence[str]  # Sites that were proposed before and did not answer (self-critical optimizer).
    most: int  # Most sources that are wanted.

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
        texts = {"question": disarmed(self.question), "query": disarmed(self.query)}
        return {**texts, "pool": pool, "failed": [disarmed(f) for f in self.failed], "most": self.most}


NAMING_PROMPT = """\
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


def checked_names(given: NamingInput, output: NamedSources) -> Checked[NamedSources]:
    """The first `most` that have a name and the address of a site that has not failed, cut to the home page."""
    pooled = {s.url: s for s in given.pool}
    sources: dict[str, NamedSource] = {}
    for source in output.sources:
        home = source.url if source.url in pooled else origin_of(source.url.strip())
        named = NamedSource(name=source.name.strip()[:_LONGEST], url=home[:_LONGEST]) if home else None
        if named is None or not named.name or len(sources) == given.most:
            continue
        site = pooled[named.url].site if named.url in pooled else named.site
        if site not in given.failed:
            sources.setdefault(named.url, named)
    if not sources and output.sources:
        return Checked(None, (Problem("no_home_page", "write addresses of home pages, like https://site.example/"),))
    return Checked(NamedSources(sources=list(sources.values())))


NAMING: Final = Task("source_naming", 1, NAMING_PROMPT, NamedSources, naming, checked_names)


class Intent(OutputModel):
    """One thing that a question wants, and the query by which it is looked for."""

    intent: str = Field(max_length=300)
    query: str = Field(max_length=600)


class Intents(OutputModel):
    """The intents of a question, the most important first."""

    intents: list[Intent] = Field(json_schema_extra={"maxItems": 5})


@dataclass(frozen=True)
class IntentInput:
    """A question."""

    question: str
    most: int  # Most intents that are wanted.

    @property
    def identity(self) -> object:
        """All that its intents depend on."""
        return [self.question, self.most]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"question": disarmed(self.question), "most": self.most}


INTENTS_PROMPT = """\
Somebody asks: {{ question }}

What is wanted? Write at most {{ most }} intents, the most important first. For each write a search query that spells
it out: full names, times and places, in the words that a page with the answer would use.

Return JSON: {"intents": [{"intent": "...", "query": "..."}]}
"""


def intents(given: IntentInput) -> Intents:
    """By rule: the question itself, then its parts that can be asked alone, then its words of content."""
    words = " ".join(w for w in dict.fromkeys(search_terms(given.question).split()) if w not in STOP_WORDS)
    queries = dict.fromkeys([given.question, *parts_alone(given.question), words])
    texts = [q for q in queries if q.strip()][: given.most]
    return Intents(intents=[Intent(intent=q[:300], query=q[:600]) for q in texts])


def checked_intents(given: IntentInput, output: Intents) -> Checked[Intents]:
    """The first `most` intents whose query says something."""
    said = [i for i in output.intents if i.query.strip()][: given.most]
    if not said:
        return Checked(None, (Problem("empty", "write at least one intent with its query"),))
    return Checked(Intents(intents=said))


INTENTS: Final = Task("source_intents", 2, INTENTS_PROMPT, Intents, intents, checked_intents)


class Agreement(OutputModel):
    """Whether a name and an address are of one source."""

    agrees: bool


@dataclass(frozen=True)
class AgreementInput:
    """A name and an address."""

    name: str  # Name of a source, as proposed.
    url: str  # Its address, as proposed.
    # What the site at the address calls itself, or its home page is titled; empty where nothing is known.
    stated: str = ""

    @property
    def identity(self) -> object:
        """All that the verdict depends on."""
        return [self.name, self.url, self.stated]

    @property
    def quoted(self) -> dict[str, object]:
        """The fields for a prompt."""
        return {"name": disarmed(self.name), "url": disarmed(self.url), "stated": disarmed(self.stated[:300])}


AGREEMENT_PROMPT = """\
Is {{ url }} the home page of "{{ name }}"?
{% if stated %}The site calls itself: {{ stated }}
{% endif %}
Return JSON: {"agrees": true or false}
"""


def agreement(given: AgreementInput) -> Agreement:
    """By rule: the host is named so, or its words or first letters are in the host name, or the site says the name."""
    host = host_of(given.url).removeprefix("www.")
    words = [w for w in search_terms(given.name).split() if w not in STOP_WORDS]
    if not host or not words:
        return Agreement(agrees=given.name == given.url)  # A source of the pool that has no address.
    letters, plain = re.sub(r"[^a-z0-9]", "", host), given.name.lower().removeprefix("www.")
    terms = set(search_terms(given.stated).split())
    held = sum(len(w) for w in words if w in letters) / sum(map(len, words))
    first = "".join(w[0] for w in words)
    by_letters = len(first) > 1 and first in re.split(r"[^a-z0-9]+", host)
    # Whole words with half of the name's letters must be in the host name.
    return Agreement(agrees=plain == host or held >= 0.5 or by_letters or set(words) <= terms)


AGREEMENT: Final = Task("source_agreement", 1, AGREEMENT_PROMPT, Agreement, agreement)
