"""Made-up syllables, and articles of them, for benchmarks that need no corpus."""

from __future__ import annotations

import random

SYLLABLES = [c + v + e for c in "bcdfghlmnprstvw" for v in "aeiou" for e in ("", "n", "r", "st")]


def synthetic_articles(articles: int = 120, seed: int = 20261) -> list[str]:
    """Articles of 100 to 2,400 words in sentences and paragraphs, from a list of 3,000 words drawn with `seed`.

    Words are one to five syllables with Zipf's frequencies; every ninth sentence has a name and a year. The
    same seed gives the same articles on every machine.
    """
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.choice((1, 1, 2, 2, 3, 4, 5)))) for _ in range(3000)]
    weights = [1 / rank for rank in range(2, 3002)]

    def sentence() -> str:
        body = rng.choices(words, weights, k=rng.randint(5, 30))
        if rng.randrange(9) == 0:
            body.insert(rng.randrange(len(body)), f"{rng.choice(words).title()}, {rng.randint(1900, 2026)}")
        return " ".join(body).capitalize() + rng.choice((".", ".", ".", "?", "!"))

    def paragraph() -> str:
        return " ".join(sentence() for _ in range(rng.randint(2, 9)))

    return ["\n\n".join(paragraph() for _ in range(rng.randint(1, 25))) for _ in range(articles)]
