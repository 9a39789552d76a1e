"""Seeds of the next crawl from what could not be answered: links of the pages found, sites they name, likely sources.

A seed is an address that the index has no page of, or the home page of a source, with the question that it is for and
why. What a crawl would refuse, or lost the last time, is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from quern.jobs.crawl.urls import Address, AddressGuard, BadAddressError, parse_address, trap
from quern.jobs.sources.links import Link, links_of, mentions_in
from quern.jobs.text.stems import content_words
from quern.pipelines.answers.difference import answers_in
from quern.pipelines.retrieve.searcher import Searcher
from quern.pipelines.sources.validate import batched
from quern.schemas.answers import Answer
from quern.schemas.settings import CrawlSettings
from quern.schemas.sources import FoundSources
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

    @property
    def line(self) -> str:
        """The reason on one line."""
        question = shortened(self.question, 200)
        return f"# {shortened(self.query_id, 80)}, {question!r}: {shortened(self.what, 300)} ({self.score:.2f})"


@dataclass(frozen=True)
class Seed:
    """An address that the next crawl is to begin with."""

    url: str  # The address.
    reasons: tuple[Reason, ...]  # Why, for each question that it is for.

    @property
    def score(self) -> float:
        """The best of its reasons."""
        return max(reason.score for reason in self.reasons)


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
        """Seeds for each of the questions of `answers`, whose likely sources `found` names, the best first."""
        linked = self._linked(answers)
        seeds = [seed for n, answer in enumerate(answers) for seed in self._best(answer, linked.get(n, []), found[n])]
        return sorted(seeds, key=lambda seed: -seed.score)

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
        by_answer: dict[int, list[tuple[Link, str]]] = {}
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
                    by_answer.setdefault(n, []).extend((link, row["page_url"]) for link in links)
        return by_answer

    def _best(self, answer: Answer, linked: Sequence[tuple[Link, str]], found: FoundSources) -> list[Seed]:
        """The best seeds for one question: what is linked or named, then sources of like questions."""
        question = answer.asked or answer.question
        most = self._searcher.settings.sourcing.links
        new = [
            (link, page, a) for link, page in linked if (a := self._open(link.url, page)) and a.key not in self._known
        ]
        # How well the description of each link fits the question, in [0, 1]: half by cosine, half by words.
        scores = []
        if new:
            words, texts = content_words(question), list(dict.fromkeys(link.said for link, _, _ in new))
            form = self._searcher.form
            vectors = self._searcher.question_embedder.encode([form(text) for text in (question, *texts)])
            cosines = dict(zip(texts, (vectors[1:] @ vectors[0]).tolist(), strict=True))
            for link, _, _ in new:
                share = len(words & content_words(link.said)) / max(1, len(words))
                scores.append((max(0.0, cosines[link.said]) + share) / 2)
        by_address: dict[bytes, Seed] = {}
        for (link, page, address), score in sorted(zip(new, scores, strict=True), key=lambda row: -row[1]):
            if score < _LEAST or len(by_address) >= most:
                break
            what = f"link {link.text or link.url!r} of {page}"
            reason = Reason(answer.query_id, question, what, round(score, 4))
            by_address.setdefault(address.key, Seed(address.url, (reason,)))
        best = list(by_address.values())
        # Home pages of sources that were proposed, of like questions or by a model, are a poor second to a link.
        for source in found.sources:
            if source.home_url and source.accessible and (home := self._open(source.home_url)):
                what = f"home page of {source.name}, proposed by {', '.join(source.proposed_by)}"
                score = round(_LEAST * source.probability, 4)
                best.append(Seed(home.url, (Reason(answer.query_id, question, what, score),)))
        return sorted(best, key=lambda seed: -seed.score)[:most]


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


def unanswered(path: Path) -> Iterator[Answer]:
    """The answers of a run that the corpus does not have; what was refused for what it asks is left out.

    Raises:
        DifferenceError: They cannot be read, or a line is no answer.
    """
    answers = (answer for _, answer in answers_in(path))
    return (answer for answer in answers if not answer.found and answer.reason != "refused")
