"""Sources of questions: candidates by generator and index, each validated; replacements for those that fail.

Know Where to Go's generator, validator and optimizer, over a batch of questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from quern.indexes.catalog import Warehouse
from quern.jobs.reasoning.questions.plan import parts_alone
from quern.jobs.sources.naming import (
    AGREEMENT,
    INTENTS,
    NAMING,
    AgreementInput,
    IntentInput,
    KnownSource,
    NamedSource,
    NamingInput,
)
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.pages.store import lost_pages
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.filters import conditions_of
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.measure import SiteOf, sites_by
from quern.pipelines.sources.pool import SourcePool, read_pool
from quern.pipelines.sources.seeds import Seed, SeedFinder, joined
from quern.pipelines.sources.validate import Pair, Validated, reached, validated
from quern.schemas.answers import Answer, Question
from quern.schemas.sources import FoundSources, ProposedBy, RatedSource, SourceEvidence


@dataclass
class _Candidate:
    """A source that was proposed for a question."""

    named: NamedSource
    site: str
    by: list[ProposedBy]


@dataclass
class _Sought:
    """A question whose sources are sought, and how far that has come."""

    question: Question
    queries: list[str]  # Its intents' queries.
    asked: list[str]  # The question and its parts, any of which a source may answer.
    # For each query, and each text of `asked`, the sources of the pool, the likeliest first.
    likely: dict[str, list[KnownSource]] = field(default_factory=dict)
    rated: dict[str, RatedSource] = field(default_factory=dict)  # What was validated, by site.
    rounds: int = 0

    @property
    def texts(self) -> list[str]:
        """All that is searched for it."""
        return list(dict.fromkeys([*self.asked, *self.queries]))

    def behind(self, text: str, site: str) -> float:
        """Score of a site's best chunk for a text, less that of the best site."""
        scores = {source.site: source.similarity for source in self.likely[text]}
        return scores.get(site, 0.0) - max(scores.values(), default=0.0)


@dataclass(frozen=True)
class Seeker:
    """Seeks sources over one snapshot."""

    searcher: Searcher
    pool: SourcePool
    reasoner: Reasoner

    def sources(self, questions: Sequence[Question]) -> list[FoundSources]:
        """The sources of each question, in their order.

        Raises:
            GeneratorError: The model cannot be asked any more.
        """
        if not questions:
            return []
        settings = self.searcher.settings.sourcing
        intents = self.reasoner.run(INTENTS, [IntentInput(q.question, settings.intents) for q in questions])
        pairs = zip(questions, intents, strict=True)
        sought = [_Sought(q, [i.query for i in done.output.intents], parts_of(q.question)) for q, done in pairs]
        # Find the likely sources of all queries and questions.
        texts = [(text, one.question) for one in sought for text in one.texts]
        batch = Batch(self.searcher, [text for text, _ in texts], [conditions_of(of) for _, of in texts])
        likely = iter(self.pool.likely(batch))
        for one in sought:
            one.likely = {text: next(likely) for text in one.texts}
        # What is proposed first: by the generator, by the index.
        candidates = self._named(sought)
        for one, own in zip(sought, candidates, strict=True):
            by_site = {candidate.site: candidate for candidate in own}
            for source in one.likely[one.asked[0]][: settings.found]:
                if source.site not in by_site:
                    new = _Candidate(NamedSource(name=source.name, url=source.url), source.site, [])
                    by_site[source.site] = new
                    own.append(new)
                by_site[source.site].by.append("found")
        self._rate(sought, candidates)
        for _ in range(settings.rounds):
            left = [one for one in sought if not any(s.answers for s in one.rated.values())]
            if not left:
                break
            self._rate(left, self._named(left))
            for one in left:
                one.rounds += 1
        return [
            FoundSources(
                query_id=one.question.query_id,
                question=one.question.question,
                intents=one.queries,
                # Those that answer first; as good ones in the order in which they were proposed.
                sources=sorted(one.rated.values(), key=lambda s: (not s.answers, -s.score)),
                rounds=one.rounds,
            )
            for one in sought
        ]

    def _named(self, sought: Sequence[_Sought]) -> list[list[_Candidate]]:
        """What the generator names for each question that was not validated yet."""
        names = self.searcher.settings.sourcing.names
        # A generator is shown ten sources, twice what it may name at most.
        inputs = [
            NamingInput(one.question.question, query, one.likely[query][:10], list(one.rated), names)
            for one in sought
            for query in one.queries
        ]
        done = iter(self.reasoner.run(NAMING, inputs))
        found = []
        for one in sought:
            sources = [source for _ in one.queries for source in next(done).output.sources]
            candidates: dict[str, _Candidate] = {}
            for source in sources:
                site = self.pool.site_of(source)
                if site not in one.rated:
                    candidates.setdefault(site, _Candidate(source, site, ["generator"]))
            found.append(list(candidates.values()))
        return found

    def _rate(self, sought: Sequence[_Sought], candidates: Sequence[Sequence[_Candidate]]) -> None:
        """Validate the candidates of each question."""
        every = [c for row in candidates for c in row]
        settings = self.searcher.settings
        online = settings.crawl if settings.sourcing.online else None
        access = reached(self.pool, {c.site: c.named.url for c in every}, online)
        stated = {c.site: access[c.site].stated or str(self.pool.rows.get(c.site, {}).get("name") or "") for c in every}
        inputs = [AgreementInput(c.named.name, c.named.url, stated[c.site]) for c in every]
        agrees = iter([done.output.agrees for done in self.reasoner.run(AGREEMENT, inputs)])
        # For each candidate what its pages say to the question and its parts; nothing where it cannot be read.
        pairs = [
            [
                Pair(text, c.site, one.behind(text, c.site), tuple(conditions_of(one.question)))
                for text in one.asked
                if not access[c.site].why_not and c.site in self.pool.rows
            ]
            for one, row in zip(sought, candidates, strict=True)
            for c in row
        ]
        outcomes = iter(validated(self.searcher, self.pool, self.reasoner, [p for row in pairs for p in row]))
        verdicts = iter([[next(outcomes) for _ in row] for row in pairs])
        for one, row in zip(sought, candidates, strict=True):
            for c in row:
                one.rated[c.site] = self._rated(c, access[c.site].why_not, next(verdicts), agreed=next(agrees))

    def _rated(self, c: _Candidate, unreached: str, outcomes: Sequence[Validated], *, agreed: bool) -> RatedSource:
        row: Mapping[str, object] = self.pool.rows.get(c.site, {})
        best = max(outcomes, key=lambda o: (o.answers, o.score), default=Validated(0.0, 0.0, False, ()))
        why = unreached or ("" if agreed else "name and address do not belong together")
        if not why and not best.answers:
            why = "no page of it answers" if outcomes else "none of its pages is in the index"
        evidence: dict[tuple[str, str], SourceEvidence] = {}
        for outcome in sorted((o for o in outcomes if o.answers), key=lambda o: -o.score):
            evidence |= {(e.chunk_id, e.text): e for e in outcome.evidence if (e.chunk_id, e.text) not in evidence}
        return RatedSource(
            site=c.site,
            name=c.named.name,
            home_url=c.named.url if c.named.url != c.site else None,
            proposed_by=c.by,
            known=bool(row) or (agreed and not unreached),
            accessible=not unreached,
            consistent=agreed,
            answers=not why,
            score=best.score,
            probability=best.probability,
            why_not=why or None,
            evidence=list(evidence.values())[:5] if not why else [],
        )


def parts_of(question: str) -> list[str]:
    """A question, and its parts that can be asked alone: a source may answer one of them."""
    return list(dict.fromkeys([question, *parts_alone(question)[:4]]))


@contextmanager
def seeker(searcher: Searcher) -> Iterator[Seeker]:
    """What seeks sources over a snapshot.

    Raises:
        GeneratorError: The model cannot be used.
        NoSourcesError: The snapshot has no sources.
    """
    settings, pool = searcher.settings, searcher.held(read_pool)
    # By rule it costs less to seek again than to remember.
    by_model = settings.generator.kind != "rules"
    memo = searcher.snapshot.warehouse.root / "memo" / "reasoning" if by_model else None
    with Reasoner(settings.generator, settings.engine, memo=memo) as reasoner:
        yield Seeker(searcher, pool, reasoner)


def sources_of(searcher: Searcher, questions: Iterable[Question]) -> Iterator[FoundSources]:
    """The sources of each question, in their order, computed in batches.

    Raises:
        CrawlError: Sources are to be asked (`sourcing.online`), and `crawl` settings do not allow it.
        GeneratorError: The model cannot be used, or cannot be asked any more.
        NoSourcesError: The snapshot has no sources.
    """
    stream = iter(questions)
    with seeker(searcher) as seeks:
        while some := list(islice(stream, 128)):
            yield from seeks.sources(some)


def seeds_of(searcher: Searcher, answers: Iterable[Answer]) -> list[Seed]:
    """Seeds for the next crawl, from questions that were not answered, in batches.

    Raises:
        CrawlError: Sources are to be asked (`sourcing.online`), and `crawl` settings do not allow it.
        GeneratorError: The model cannot be used, or cannot be asked any more.
        NoSourcesError: The snapshot has no sources.
    """
    stream, seeds = iter(answers), list[Seed]()
    with seeker(searcher) as seeks:
        batches = lost_pages(Warehouse(searcher.snapshot.warehouse.root))
        finder = SeedFinder(searcher, (key for batch in batches for key in batch.column("key").to_pylist()))
        while some := list(islice(stream, 128)):
            questions = [Question(query_id=a.query_id, question=a.asked or a.question, as_of=a.as_of) for a in some]
            sources = seeks.sources(questions)
            seeds = joined([*seeds, *finder.seeds(some, sources)], searcher.settings.sourcing.seeds)
    return seeds


def gold_sites(searcher: Searcher) -> SiteOf:
    """The sites of gold pages, by the documents of a snapshot."""
    site_of: dict[str, str] = {}
    for batch in searcher.snapshot.stage("documents").batches(["doc_id", "url", "site"]):
        for row in batch.to_pylist():
            if row["site"]:
                site_of |= {key: row["site"] for key in (row["doc_id"], row["url"]) if key}
    return sites_by(site_of)
