"""Generated documents and their nights: articles of many sites about invented people, places and days.

Each is drawn from a seed and its own number, so that a document that is not touched is the same in every corpus. Names
come back in other documents, some in many and most in few, as names do; sentences say who did what where and when, so
that events, statements, questions and edges are found in them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Final

from quern.schemas.words.calendar import MONTHS

_DAY: Final = "2024-03-01T08:00:00Z"
_DOCUMENTS_OF_A_SITE: Final = 100
_PLACES: Final = 400
_DOCUMENTS_OF_A_PERSON: Final = 3
_THINGS: Final = (
    "harbour wall,stone bridge,grain mill,town library,lighthouse,reservoir,railway bridge,ferry landing,glass works,"
    "observatory,tram depot,salt works,botanical garden,paper mill,opera house,fish market,weather station,canal lock,"
    "cattle shed,printing house,quarry road,water tower,boat yard,seed bank,brick kiln,music school,county archive"
).split(",")
_DEEDS: Final = (
    "repaired,opened,inspected,sold,designed,flooded,restored,measured,painted,rented,closed,visited,described,"
    "demolished,extended,photographed,surveyed,insured,rebuilt,bought"
).split(",")
_ROLES: Final = "engineer,mayor,teacher,botanist,captain,architect,historian,miller,surveyor,printer".split(",")
_REASONS: Final = (
    "because the winter had been unusually long,after a storm had torn the roof away,"
    "although the council had asked for a delay,before the first visitors arrived from the coast,"
    "while the neighbours waited for news of the vote,since the old contract had come to an end,"
    "so that the children of the valley could use it,when the price of timber fell by a third,"
    "as the committee had promised in the spring,without telling those who had paid for it"
).split(",")
_FORMS: Final = (
    "{person} {deed} the {thing} of {place} on {day} {reason}.",
    "On {day}, the {thing} in {place} was {deed} by {person} {reason}.",
    "{person}, the {role} of {place}, was born in {other} in {year}.",
    "The {thing} of {place} is {number} metres long and has stood there since {year}.",
    "It took {person} {number} days to reach {other} from {place} {reason}.",
    "In {year} the people of {other} paid {number} crowns for the {thing} that {person} had {deed}.",
    "{person} said that the {thing} near {other} would be {deed} with {number} workers from {place}.",
)


def _name(rng: random.Random) -> str:
    onsets, ends = "b c d f g h l m n p r s t v w br dr st tr".split(), "n r l s m th ck nd".split()
    parts = [rng.choice(onsets) + rng.choice("aeiou") for _ in range(rng.choice((1, 2)))]
    return ("".join(parts) + rng.choice(onsets) + rng.choice("aeiou") + rng.choice(ends)).title()


@dataclass(frozen=True)
class Article:
    """A generated document."""

    number: int  # What it is drawn from, with its edition.
    edition: int  # How often it was edited.
    site: int  # Number of its site.


@dataclass(frozen=True)
class World:
    """What documents are drawn from."""

    size: int  # Documents of the first night, by which there are people and sites.
    seed: int = 20261  # Seed of all names and documents.

    @cached_property
    def people(self) -> list[str]:
        """Names of people."""
        rng = random.Random(f"people {self.seed}")
        return [f"{_name(rng)} {_name(rng)}" for _ in range(max(20, self.size // _DOCUMENTS_OF_A_PERSON))]

    @cached_property
    def places(self) -> list[str]:
        """Names of places."""
        rng = random.Random(f"places {self.seed}")
        return [_name(rng) + rng.choice(("", " Bay", " Hill", " Ferry", "")) for _ in range(_PLACES)]

    def first_night(self) -> dict[str, Article]:
        """The articles of the first night."""
        sites = max(3, self.size // _DOCUMENTS_OF_A_SITE)
        return {f"article-{n:06d}": Article(n, 0, n % sites) for n in range(self.size)}

    def next_night(self, articles: Mapping[str, Article], share: float, seed: int) -> dict[str, Article]:
        """The articles after a night in which `share` of them changed: most edited, a fifth each new and gone."""
        rng = random.Random(f"night {self.seed} {seed}")
        touched = rng.sample(sorted(articles), max(1, round(share * len(articles))))
        fifth = len(touched) // 5
        gone, found = set(touched[:fifth]), {key: one for key, one in articles.items() if key not in touched[:fifth]}
        for key in touched[2 * fifth :]:
            found[key] = replace(articles[key], edition=articles[key].edition + 1)
        numbers = count(max(one.number for one in articles.values()) + 1)
        for key in sorted(gone):
            number = next(numbers)
            found[f"article-{number:06d}"] = Article(number, 0, articles[key].site)
        return found

    def write(self, articles: Mapping[str, Article], path: Path) -> Path:
        """Write the articles to a JSONL file; returns it."""
        with path.open("w", encoding="utf-8") as file:
            for key, article in articles.items():
                host = f"paper-{article.site}.example"
                title, text = self.written(article)
                row = {"doc_id": key, "url": f"https://{host}/{key}.html", "title": title, "site": host}
                file.write(json.dumps(row | {"published_at": _DAY, "language": "en", "text": text}) + "\n")
        return path

    def written(self, article: Article) -> tuple[str, str]:
        """Title and text; an edition differs from the one before in a sentence."""
        rng = random.Random(f"article {self.seed} {article.number}")
        # Zipf's frequencies: the first of them stand in many documents.
        people = [self.people[int(len(self.people) * rng.random() ** 3)] for _ in range(3)]
        places = [self.places[int(len(self.places) * rng.random() ** 3)] for _ in range(2)]
        sentences = [self._sentence(rng, people, places) for _ in range(rng.randint(4, 6))]
        if article.edition:
            other = random.Random(f"edition {self.seed} {article.number} {article.edition}")
            sentences[other.randrange(len(sentences))] = self._sentence(other, people, places)
        title = f"{people[0]} and the {rng.choice(_THINGS)} of {places[0]}"
        half = len(sentences) // 2
        return title, " ".join(sentences[:half]) + "\n\n" + " ".join(sentences[half:])

    @staticmethod
    def _sentence(rng: random.Random, people: list[str], places: list[str]) -> str:
        return rng.choice(_FORMS).format(
            person=rng.choice(people),
            place=places[0],
            other=rng.choice(places),
            thing=rng.choice(_THINGS),
            deed=rng.choice(_DEEDS),
            role=rng.choice(_ROLES),
            reason=rng.choice(_REASONS),
            year=rng.randint(1850, 2023),
            number=rng.randint(12, 990),
            day=f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {rng.randint(2015, 2023)}",
        )
