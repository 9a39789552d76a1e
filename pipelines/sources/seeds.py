"""Seeds of the next crawl from what could not be answered: links of the pages found, sites they name, likely sources.

A seed is an address that the index has no page of, or the home page of a source, with the question that it is for and
why. What a crawl would refuse, or lost the last time, is none. Where `sourcing.online` allows it each is visited first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pydantic import ValidationError

from quern.jobs.crawl.probe import visit
from quern.jobs.crawl.urls import Address, AddressGuard, BadAddressError, parse_address, trap
from quern.jobs.documents.clean import Clean
from quern.jobs.reasoning.answering.inputs import AnswerInput, Evidence
from quern.jobs.sources.build import origin_of
from quern.jobs.sources.evidence import verdict
from quern.jobs.sources.links import Link, links_of, mentions_in
from quern.jobs.text.plain_text import publication
from quern.jobs.text.stems import content_words
from quern.pipelines.answers.questions import problem_of
from quern.pipelines.pages.crawl import check_settings, user_agent
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.validate import AT_ONCE, asked_homes, batched, weighed_by_rule
from quern.schemas.answers import Answer, Question
from quern.schemas.errors import QuernError
from quern.schemas.settings import CrawlSettings
from quern.schemas.sources import FoundSources
from quern.schemas.tables import PAGES
from quern.schemas.words.lines import shortened

# Half of the cosine with the question and half of the share of its words: a link below says too little of where it
# leads. A round number; there are no sets of links with questions to choose it on.
_LEAST: Final = 0.3
_PAGES: Final = 64  # Read at once, of at most 10 MB each.
_LOCAL: Final = ("localhost", ".localhost", ".local", ".internal")


@dataclass(frozen=True)
class Reason:
    """Why an address is a seed."""

    query_id: str  # The question that it is for.
    question: str  # Its words.
    what: str  # What led to the address.
    score: float  # How well that fits the question, in [0, 1].
    validated: str = ""  # What a visit found; empty where none was made.

    @property
    def line(self) -> str:
        """The reason on one line."""
        asked, told = shortened(self.question, 200), f"; {self.validated}" if self.validated else ""
        return f"# {shortened(self.query_id, 80)}, {asked!r}: {shortened(self.what, 300)} ({self.score:.2f}){told}"


@dataclass(frozen=True)
class Seed:
    """An address that the next crawl is to begin with."""

    url: str  # The address.
    reasons: tuple[Reason, ...]  # Why, for each question that it is for.

    @property
    def score(self) -> float:
        """The best of its reasons."""
        return max(reason.score for reason in self.reasons)


@dataclass(frozen=True)
class _Candidate:
    """An address that may be a seed for one question."""

    address: Address
    reason: Reason


class SeedFinder:
    """Finds seeds over one snapshot.

    What it holds of the snapshot is a key of 16 bytes for each page.
    """

    def __init__(self, searcher: Searcher, lost: Iterable[str] = ()) -> None:
        """`lost` are addresses that the last crawl got no page of."""
        self._searcher = searcher
        self._crawl: CrawlSettings = searcher.settings.crawl
        self._guard = AddressGuard(self._crawl.allow_private)
        addresses = (
            url
            for table in ("pages", "documents")
            for batch in searcher.snapshot.stage(table).batches(["url"])
            for url in filter(None, batch.column("url").to_pylist())
        )
        self._known = set(self._keys(addresses))
        self._lost = set(self._keys(lost))

    def seeds(self, answers: Sequence[Answer], found: Sequence[FoundSources]) -> list[Seed]:
        """Seeds for the questions of `answers`, whose likely sources `found` names.

        Raises:
            CrawlError: Seeds are to be visited, and `crawl` settings do not allow a crawl.
        """
        settings = self._searcher.settings.sourcing
        linked = self._linked(answers)
        rows = [self._best(answer, linked.get(n, []), found[n]) for n, answer in enumerate(answers)]
        candidates = [c for row in rows for c in row]
        if settings.online:
            by_url = visited(self._searcher, [(c.address.url, c.reason.question) for c in candidates])
            had = []
            for c in candidates:
                seen = by_url[c.address.url, c.reason.question]
                if not seen.why_not:
                    valid = f"visited, its text answers with a score of {seen.score:.2f}"
                    score = max(c.reason.score, seen.score / 2 if seen.answers else 0.0)
                    validated = valid if seen.answers else "visited"
                    had.append(replace(c, reason=replace(c.reason, score=score, validated=validated)))
            candidates = had
        kept: dict[str, list[Reason]] = {}
        count = {answer.query_id: 0 for answer in answers}
        for c in sorted(candidates, key=lambda c: -c.reason.score):
            if count[c.reason.query_id] < settings.links:
                count[c.reason.query_id] += 1
                kept.setdefault(c.address.url, []).append(c.reason)
        return [Seed(url, tuple(reasons)) for url, reasons in kept.items()]

    def _keys(self, urls: Iterable[str]) -> Iterator[bytes]:
        for url in urls:
            if (address := self._address(url)) is not None:
                yield address.key

    def _address(self, url: str) -> Address | None:
        try:
            return parse_address(url, self._crawl.session_parameters)
        except BadAddressError:
            return None

    def _open(self, url: str, page: str = "") -> Address | None:
        """The address, if a crawl would ask for it where `page` links it, and did not lose it the last time."""
        address = self._address(url)
        if address is None or trap(address, self._crawl) or address.key in self._lost:
            return None
        # A host that is a private address by its name; what others lead to, the crawl sees when it asks.
        host = address.host
        if host.replace(".", "").isdigit() or ":" in host:
            if not self._guard.permits(host):
                return None
        elif host.endswith(_LOCAL) and host not in self._crawl.connect_to:
            return None
        if address.port in self._crawl.ports:
            return address
        # To a crawl every port that a seed names is open: of others' links only those that stay where they are may.
        own = self._address(page)
        return address if own is not None and own.origin == address.origin else None

    def _linked(self, answers: Sequence[Answer]) -> dict[int, list[tuple[Link, str]]]:
        """For each answer, by its place, the links of the pages that were found for it, each with its page."""
        documents: dict[str, list[int]] = {}
        for n, answer in enumerate(answers):
            for key in dict.fromkeys(hit.doc_id for hit in answer.hits):
                documents.setdefault(key, []).append(n)
        found: dict[int, list[tuple[Link, str]]] = {}
        snapshot = self._searcher.snapshot
        for some in batched(documents, _PAGES):
            rows = snapshot.table("documents").lookup("doc_id", some, ["doc_id", "page_url", "text"]).to_pylist()
            urls = sorted({row["page_url"] for row in rows})
            read = snapshot.stage("pages").lookup("url", urls, ["url", "body", "charset", "content_type"]).to_pylist()
            pages: Mapping[str, Any] = {page["url"]: page for page in read}
            for row in rows:
                page, links = pages.get(row["page_url"]), mentions_in(row["text"])
                if page is not None and "html" in page["content_type"]:
                    links = [*links_of(page["body"], page["url"], page["charset"]), *links]
                for n in documents[row["doc_id"]]:
                    found.setdefault(n, []).extend((link, row["page_url"]) for link in links)
        return found

    def _best(self, answer: Answer, linked: Sequence[tuple[Link, str]], found: FoundSources) -> list[_Candidate]:
        """The best candidates for one question: what is linked or named, then sources of like questions."""
        asked = answer.asked or answer.question
        most = 2 * self._searcher.settings.sourcing.links  # Some may be lost when they are visited.
        new = [
            (link, page, a) for link, page in linked if (a := self._open(link.url, page)) and a.key not in self._known
        ]
        # How well the description of each link fits the question, in [0, 1]: half by cosine, half by words.
        scores = []
        if new:
            wanted, texts = content_words(asked), list(dict.fromkeys(link.said for link, _, _ in new))
            form = self._searcher.form
            vectors = self._searcher.question_embedder.encode([form(text) for text in (asked, *texts)])
            cosines = dict(zip(texts, (vectors[1:] @ vectors[0]).tolist(), strict=True))
            for link, _, _ in new:
                share = len(wanted & content_words(link.said)) / max(1, len(wanted))
                scores.append((max(0.0, cosines[link.said]) + share) / 2)
        candidates: dict[bytes, _Candidate] = {}
        for (link, page, address), score in sorted(zip(new, scores, strict=True), key=lambda row: -row[1]):
            if score < _LEAST or len(candidates) >= most:
                break
            what = f"link {link.text or link.url!r} of {page}"
            reason = Reason(answer.query_id, asked, what, round(score, 4))
            candidates.setdefault(address.key, _Candidate(address, reason))
        best = list(candidates.values())
        # Home pages of sources that were proposed, of like questions or by a model, are a poor second to a link.
        for source in found.sources:
            if source.home_url and source.accessible and (home := self._open(source.home_url)):
                what = f"home page of {source.name}, proposed by {', '.join(source.proposed_by)}"
                score = round(_LEAST * source.probability, 4)
                best.append(_Candidate(home, Reason(answer.query_id, asked, what, score)))
        return best[:most]


def joined(seeds: Iterable[Seed], most: int) -> list[Seed]:
    """The `most` best seeds, each address once with all its reasons."""
    reasons: dict[str, list[Reason]] = {}
    for seed in seeds:
        reasons.setdefault(seed.url, []).extend(seed.reasons)
    every = [Seed(url, tuple(why)) for url, why in reasons.items()]
    return sorted(every, key=lambda seed: (-seed.score, seed.url))[:most]


def as_text(seeds: Sequence[Seed], head: str) -> str:
    """Seeds as `quern crawl` reads them: a line for each, under comments that say why."""
    lines = [f"# {shortened(head, 300)}"]
    for seed in seeds:
        lines += ["", *(reason.line for reason in seed.reasons), seed.url]
    return "\n".join(lines) + "\n"


def question_of_answer(answer: Answer) -> Question:
    """The question of an answer, as it was understood."""
    return Question(query_id=answer.query_id, question=answer.asked or answer.question, as_of=answer.as_of)


_WINDOW: Final = 2000  # Characters that are weighed together: about a chunk.


@dataclass(frozen=True)
class Visited:
    """What a visit says of a page and a question."""

    why_not: str = ""  # Why the page cannot be had; empty where it can.
    score: float = 0.0  # `1 + P(yes)`, or `1 - P(no)`, of its best windows.
    answers: bool = False  # Whether that is valid.


def visited(searcher: Searcher, asked: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Visited]:
    """For each address and question what its page says; a site that answers everything is not believed.

    Raises:
        CrawlError: `crawl` settings do not allow a crawl.
    """
    if not asked:
        return {}
    crawl = searcher.settings.crawl
    check_settings(crawl)
    origins = {url: origin_of(url) or url for url, _ in asked}
    homes = asked_homes({origin: origin for origin in origins.values()}, crawl)
    everything = {site for site, reached in homes.items() if reached.why_not.startswith("answers_everything")}
    why_nots, windows = dict[str, str](), dict[str, list[Evidence]]()
    for some in batched(origins, AT_ONCE):
        visits = visit(some, crawl, user_agent(crawl))
        why_nots |= {url: seen.why_not for url, seen in visits.items()}
        windows |= _windows(searcher, {url: seen.body for url, seen in visits.items() if not seen.why_not})
    found: dict[tuple[str, str], Visited] = {}
    inputs: dict[tuple[str, str], AnswerInput] = {}
    for url, question in asked:
        why_not = homes[origins[url]].why_not if origins[url] in everything else why_nots[url]
        found[url, question] = Visited(why_not)
        if not why_not and url in windows:
            inputs[url, question] = AnswerInput(question, windows[url])
    weighed = weighed_by_rule(list(inputs.values()), [0.0] * len(inputs))
    for key, one in zip(inputs, weighed, strict=True):
        score = round(verdict(one).score, 4)
        found[key] = Visited("", score, score > searcher.settings.sourcing.valid)
    return found


def _windows(searcher: Searcher, bodies: Mapping[str, bytes]) -> dict[str, list[Evidence]]:
    """The first windows of the main text of each page that has one, read in a child process as a build does."""
    rows = [{"url": url, "content_type": "text/html", "charset": None, "body": body} for url, body in bodies.items()]
    schema = pa.schema([PAGES.schema.field(name) for name in Clean.reads])
    made = Clean(searcher.settings.clean).apply(pa.RecordBatch.from_pylist(rows, schema=schema))
    found = {}
    for row in made.rows.select(["page_url", "title", "text", "published_at", "utc_offset"]).to_pylist():
        text, url = row["text"], row["page_url"]
        cuts = range(0, min(len(text), _WINDOW * 5), _WINDOW)
        found[url] = [
            Evidence(text[at : at + _WINDOW], row["title"], (), (), publication(row), f"{url} {at}", url) for at in cuts
        ]
    return found


FILE = "answers.jsonl"


class AnswersError(QuernError):
    """A file of answers that cannot be read; the message names the line."""


def unanswered(path: Path) -> Iterator[Answer]:
    """The answers of a file, or of a folder that `quern answer --out` wrote, that the corpus does not have.

    What was refused for what it asks stays so, whatever is crawled.

    Raises:
        AnswersError: It cannot be read, or a line is no answer.
    """
    file = path / FILE if path.is_dir() else path
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    answer = Answer.model_validate_json(line)
                except ValidationError as error:
                    raise AnswersError(f"{file}:{number}: {problem_of(error)}") from None
                if not answer.found and answer.reason != "refused":
                    yield answer
    except OSError as error:
        raise AnswersError(
            f"{file} cannot be read: {error.strerror}; name the folder that `quern answer --out` wrote"
        ) from None
