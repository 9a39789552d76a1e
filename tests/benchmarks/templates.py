"""Documents of one template that differ in a value, and copies that differ in none: which of them are kept apart.

Two hundred sets of eight certificates, tickets, invoices, product pages and minutes of 50 to 2,000 words; within half
of the sets one value alone differs. Beside them articles with a copy each: reprinted, with another footer, with an
advertisement more, with typos or without a paragraph. Words are made up; the same seed gives the same documents.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quern.jobs.engines import Engines
from quern.schemas.settings import EngineSettings
from quern.schemas.words.calendar import MONTHS
from tests.benchmarks.articles import Vocabulary
from tests.benchmarks.deduplicate import Runs, clusters, similarity

_SET = 8
_THRESHOLD = 0.8
_TEMPLATES = {
    "certificate": "Certificate of {thing}\nThis is to certify that {name} of {place} has passed the examination in "
    "{thing} with {number} points.\n{body}\nCertificate number: {code}\nIssued on {date} by the {place} Guild.",
    "ticket": "Ticket {code} from {place} to {town}, {date} at {time}, coach {digit}, seat {number}, for {name}. "
    "{body}",
    "invoice": "{body}\nInvoice {code}\nBill to: {name}, {place}\nDate: {date}\n{thing} | {number} | {price}\n"
    "Total due: {price}",
    "product": "{name}'s {thing}\nColour: {colour}\nWeight: {number} g\nModel: {code}\nPrice: {price}\n{body}",
    "minutes": "Minutes of the meeting of {date}\n{body}\nThe chair was taken by {name}, and {number} members were "
    "there. The budget of {price} for the road to {town} was approved at {time}.\n{body}",
}
_SLOTS = ("name", "place", "town", "number", "digit", "code", "date", "time", "price", "colour", "thing")
_ALONE = ("name", "place", "number", "code", "date", "price", "colour")
_COLOURS = "red green blue black white grey orange brown".split()


@dataclass(frozen=True)
class Corpus:
    """The documents: `sets` of positions of one template, and (original, copy) `pairs` by what was done to the copy."""

    texts: list[str]
    sets: list[list[int]]
    pairs: dict[str, list[tuple[int, int]]]


class Writer:
    """Writes documents of made-up words."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        vocabulary = Vocabulary(self.rng, 8000, (1, 2, 2, 3))
        self._words, self._some = vocabulary.words, vocabulary.some

    def name(self) -> str:
        """A first and a last name."""
        return " ".join(self.rng.choice(self._words).capitalize() for _ in range(2))

    def sentence(self) -> str:
        """A sentence; some have a name or a number."""
        words = self._some(self.rng.randint(6, 18))
        if self.rng.random() < 0.3:
            words.insert(self.rng.randint(1, 5), self.rng.choice([self.name(), str(self.rng.randint(2, 9000))]))
        return f"{words[0].capitalize()} {' '.join(words[1:])}."

    def prose(self, words: int) -> str:
        """Paragraphs of about so many words."""
        lines = [""]
        while sum(len(line.split()) for line in lines) < words:
            lines[-1] += f" {self.sentence()}"
            if self.rng.random() < 0.3:
                lines.append("")
        return "\n".join(line.strip() for line in lines if line)

    def value(self, slot: str) -> str:
        """A value."""
        rng = self.rng
        kinds: dict[str, Callable[[], str]] = {
            "name": self.name,
            "place": lambda: rng.choice(self._words).capitalize(),
            "town": lambda: rng.choice(self._words).capitalize(),
            "number": lambda: str(rng.randint(2, 400)),
            "digit": lambda: str(rng.randint(1, 9)),
            "code": lambda: f"{rng.choice('ABT')}-{rng.randint(1000, 9999)}",
            "date": lambda: f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {rng.randint(2019, 2026)}",
            "time": lambda: f"{rng.randint(6, 22)}:{rng.randrange(0, 60, 5):02}",
            "price": lambda: f"{rng.randint(1, 9)},{rng.randint(100, 999)}.{rng.randint(0, 99):02} EUR",
            "colour": lambda: rng.choice(_COLOURS),
            "thing": lambda: rng.choice(self._words),
        }
        return kinds[slot]()

    def set(self) -> list[str]:
        """Documents of one template."""
        template = self.rng.choice([*_TEMPLATES.values()])
        length = int(50 * 40 ** self.rng.random())
        template = template.replace("{body}", self.prose(length // template.count("{body}")))
        used = [slot for slot in _SLOTS if f"{{{slot}}}" in template]
        alone = self.rng.random() < 0.5
        differs = [self.rng.choice([s for s in _ALONE if s in used])] if alone else [s for s in used if s != "thing"]
        same = {slot: self.value(slot) for slot in used}
        texts: dict[str, None] = {}
        while len(texts) < _SET:
            texts[template.format(**same | {slot: self.value(slot) for slot in differs})] = None
        return [*texts]

    def copies(self, text: str) -> dict[str, str]:
        """Copies of an article that say the same, by what was done to them."""
        rng, lines = self.rng, text.split("\n")
        at = rng.randint(0, len(lines))
        words = text.split(" ")
        for n in rng.sample([n for n, w in enumerate(words) if len(w) > 5 and w.isalpha()], 3):
            turn = rng.randint(1, len(words[n]) - 3)
            words[n] = words[n][:turn] + words[n][turn + 1] + words[n][turn] + words[n][turn + 2 :]
        drop = max(range(len(lines)), key=lambda n: -abs(len(lines[n]) - len(text) // 12))
        return {
            "reprint": "\n\n".join(lines).replace(".", " .").replace(",", " , "),
            "footer": f"{text}\n{self.sentence()} {self.sentence()}",
            "advertisement": "\n".join([*lines[:at], self.prose(12), *lines[at:]]),
            "typos": " ".join(words),
            "shorter": "\n".join([*lines[:drop], *lines[drop + 1 :]]),
            "page counter": f"{text}\nThis page was viewed {rng.randint(100, 9000)} times.",
        }


def corpus(sets: int, articles: int, seed: int = 1997) -> Corpus:
    """So many sets of eight documents, and so many articles, each with a copy above the threshold."""
    writer = Writer(seed)
    texts: list[str] = []
    groups, pairs = [], {}
    for _ in range(sets):
        groups.append([*range(len(texts), len(texts) + _SET)])
        texts += writer.set()
    for n in range(articles):
        text = writer.prose(writer.rng.randint(120, 900))
        kind, copy = [*writer.copies(text).items()][n % 6]
        if kind in ("footer", "page counter"):
            text = writer.copies(text)[kind]
        if similarity(text, copy) >= _THRESHOLD:
            pairs.setdefault(kind, []).append((len(texts), len(texts) + 1))
            texts += [text, copy]
    return Corpus(texts, groups, pairs)


def benchmark_templates(sets: int = 200, articles: int = 1200) -> dict[str, float]:
    """Shares of templated documents that are kept, and of copies that are found.

    Returns:
        `templated kept`: share of the templated documents that are no duplicates. `copies found`: share of the copies
        in one cluster with their originals, of all kinds but `page counter`, of which a number differs; and of each.
    """
    made = corpus(sets, articles)
    with tempfile.TemporaryDirectory() as directory, Engines(EngineSettings(engine="local")) as engines:
        cost, documents = Runs(Path(directory), engines).run(made.texts)
        cluster = clusters(documents)
    lost = sum(n in cluster and cluster[n] != n for group in made.sets for n in group)
    joined = {k: [a in cluster and cluster[a] == cluster.get(b) for a, b in of] for k, of in made.pairs.items()}
    told = [found for kind, of in joined.items() if kind != "page counter" for found in of]
    figures = {"templated kept": 1 - lost / (sets * _SET), "copies found": sum(told) / len(told)}
    figures |= {f"copies found, {kind}": sum(of) / len(of) for kind, of in joined.items()}
    return figures | {"documents": float(len(made.texts)), "seconds": cost.seconds}
