"""Validation of sources: what their pages say to a question, and whether that answers it (Know Where to Go, validator).

Each (question, source) pair is searched for among the pages of that source alone; all pairs of a batch at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from quern.jobs.crawl.probe import visit
from quern.jobs.documents.html.metadata import read_metadata
from quern.jobs.documents.html.parse import PageError, parse_page
from quern.jobs.reasoning.answering.inputs import AnswerInput
from quern.jobs.sources.evidence import SCORE, Weighed, probability_by_rule, recognise_task
from quern.jobs.tasks.runner import Reasoner
from quern.pipelines.pages.crawl import check_settings, user_agent
from quern.pipelines.retrieve.batch import Batch
from quern.pipelines.retrieve.evidence import Found, load_evidence
from quern.pipelines.retrieve.recipes import find_recipes
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.pool import RECIPE, SourcePool
from quern.schemas.settings import CrawlSettings
from quern.schemas.sources import SourceEvidence


@dataclass(frozen=True)
class Pair:
    """A question, or a part of one, that a source is to answer."""

    text: str  # What is asked.
    site: str  # The source.
    behind: float = 0.0  # Score of the source's best chunk less that of the best source.
    where: tuple[str, ...] = ()  # Further conditions that its pages must meet.


@dataclass(frozen=True)
class Validated:
    """What became of a pair."""

    score: float  # `1 + P(yes)`, or `1 - P(no)`.
    probability: float  # P(yes).
    answers: bool  # Whether the evidence is valid.
    evidence: tuple[SourceEvidence, ...]  # The sentences that answer.


def validated(searcher: Searcher, pool: SourcePool, reasoner: Reasoner, pairs: Sequence[Pair]) -> list[Validated]:
    """What the pages of each source say to its question.

    Raises:
        GeneratorError: The model cannot be asked any more.
    """
    if not pairs:
        return []
    settings = searcher.settings.sourcing
    founds = _found(searcher, pool, pairs)
    weighed = []
    for pair, found in zip(pairs, founds, strict=True):
        answer_input = AnswerInput(pair.text, found.evidence)
        weighed.append(Weighed(answer_input, probability_by_rule(answer_input, pair.behind)))
    named = [done.output.sentences for done in reasoner.run(recognise_task(searcher.settings.answer), weighed)]
    # What was recognised is weighed alone; where nothing was, the verdict is on all of it, and it is not valid.
    chosen = [w.only(numbers) if numbers else w for w, numbers in zip(weighed, named, strict=True)]
    verdicts = [done.output for done in reasoner.run(SCORE, chosen)]
    outcomes = []
    for one, found, numbers, verdict in zip(weighed, founds, named, verdicts, strict=True):
        evidence = []
        for number in numbers:
            at, start, end = one.given.sentences[number - 1]
            text = " ".join(one.given.evidence[at].text[start:end].split())[:600]
            source = {name: getattr(found.hits[at], name) for name in ("chunk_id", "doc_id", "url", "title")}
            evidence.append(SourceEvidence(text=text, **source))
        yes = verdict.probability if verdict.answers else 1.0 - verdict.probability
        answers = verdict.score > settings.valid and bool(found.hits) and bool(numbers)
        outcomes.append(Validated(round(verdict.score, 4), round(yes, 4), answers, tuple(evidence)))
    return outcomes


def _found(searcher: Searcher, pool: SourcePool, pairs: Sequence[Pair]) -> list[Found]:
    """The best chunks of each pair's source: at most `sourcing.windows`, of the best `sourcing.pages` pages."""
    settings = searcher.settings.sourcing
    (recipe,) = find_recipes(RECIPE)
    texts = list(dict.fromkeys(pair.text for pair in pairs))
    place = {text: n for n, text in enumerate(texts)}
    vectors = Batch(searcher, texts).vectors  # Each text is embedded once, however many sources it is asked of.
    where = [[pool.condition(pair.site), *pair.where] for pair in pairs]
    batch = Batch(searcher, [pair.text for pair in pairs], where)
    batch = batch.with_vectors(vectors[[place[pair.text] for pair in pairs]])
    few = []
    for found in load_evidence(batch, recipe.rank(batch)):
        best = list(dict.fromkeys(hit.doc_id for hit in found.hits))[: settings.pages]
        places = [n for n, hit in enumerate(found.hits) if hit.doc_id in best][: settings.windows]
        few.append(replace(found, hits=[found.hits[n] for n in places], evidence=[found.evidence[n] for n in places]))
    return few


AT_ONCE: Final = 32  # Addresses of one visit: all that they answer, up to 10 MB each, is in memory when it is over.
EVERYTHING = "answers_everything: it answers an address that was made up, so that answering tells nothing"


@dataclass(frozen=True)
class Reached:
    """Whether a source can be reached."""

    why_not: str = ""  # Why it cannot; empty where it can.
    stated: str = ""  # What it calls itself, where its home page was read.


def reached(pool: SourcePool, homes: Mapping[str, str], online: CrawlSettings | None) -> dict[str, Reached]:
    """For each site, given with its home page, whether it can be reached.

    Without settings `online` no home page is asked for: a source is reached where the index has pages of it.

    Raises:
        CrawlError: The settings do not allow a crawl.
    """
    unknown = Reached("it is not in the index, and sourcing.online does not allow to ask it")
    offline = {site: Reached() if site in pool.rows else unknown for site in homes}
    if online is None:
        return offline
    urls = {site: url for site, url in homes.items() if url.startswith(("http://", "https://"))}
    return offline | asked_homes(urls, online)


def asked_homes(homes: Mapping[str, str], settings: CrawlSettings) -> dict[str, Reached]:
    """For each site whether its home page answers, and nothing that was made up does.

    Raises:
        CrawlError: `crawl` settings do not allow a crawl.
    """
    if not homes:
        return {}
    check_settings(settings)
    results: dict[str, Reached] = {}
    for some in batched(homes, AT_ONCE // 2):
        made_up = {site: f"{homes[site]}{secrets.token_hex(12)}" for site in some}
        visits = visit([*(homes[site] for site in some), *made_up.values()], settings, user_agent(settings))
        for site in some:
            home, invented = visits[homes[site]], visits[made_up[site]]
            if home.why_not:
                results[site] = Reached(home.why_not)
            elif not invented.why_not and invented.url != home.url:
                results[site] = Reached(EVERYTHING)
            else:
                try:
                    metadata = read_metadata(parse_page(home.body, None), home.url)
                except PageError:
                    results[site] = Reached()
                    continue
                # Name of the site and title of its home page.
                names = (metadata.get(name) for name in ("site_name", "title"))
                results[site] = Reached(stated=" ".join(str(name) for name in names if name))
    return results


def batched(keys: Iterable[str], most: int) -> Iterator[list[str]]:
    """The keys, at most `most` at once."""
    left = iter(keys)
    while some := list(islice(left, most)):
        yield some
