"""Answers of every kind that the report shows, written by hand, and what answers are made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from quern.schemas.answers import (
    AlignedHit,
    AlignedSegment,
    Answer,
    AnswerEvent,
    AnswerImage,
    Citation,
    Hit,
    PathNode,
    QuestionPart,
    Sentence,
    SubAnswer,
)

COST = (
    "The council published the final statement of cost.\n"
    "Heading | Approved Sept 2022 | Budget Jan 2024 | Budget Nov 2024 | Final account June 2025\n"
    "Foundations and piers | 11.2 | 24.1 | 24.1 | 23.8\n"
    "Total | 38.4 | 52.9 | 61.7 | 60.8\n"
    "The increase is explained by the ground under the western pier, which was softer than the borings had shown. "
    "The cables were ordered again after the first set had rusted on the quay."
)
PIER = (
    "The Wherry Pier was built in 1912 for 2.1 million crowns. It was repaired twice, in 1949 and 1987, and has been "
    "closed to vehicles since then. Nobody is known to have asked for more.\nOpening hours\nIt is open from dawn "
    "to dusk."
)


TEXT = "The lamp was lit in 1871. It burned whale oil. A keeper slept below.\n\nThe lamp went out in 1924."


def hit(
    rank: int = 1,
    chunk: str = "d-0",
    start: int = 0,
    text: str = TEXT,
    title: str | None = "The lamp of Pell Head",
    url: str | None = "https://tidewiki.example/lamp",
    score: float = 0.5,
    day: datetime | None = datetime(2024, 5, 3),
) -> Hit:
    return Hit(
        rank=rank,
        chunk_id=chunk,
        doc_id=chunk.split("-")[0],
        url=url,
        title=title,
        published_at=day,
        score=score,
        start=start,
        end=start + len(text),
        text=text,
    )


def cite(number: int, of: Hit, start: int, end: int) -> Citation:
    quote = of.text[start - of.start : end - of.start]
    known = {name: getattr(of, name) for name in ("doc_id", "chunk_id", "url", "title", "published_at")}
    return Citation(number=number, start=start, end=end, quote=quote, **known)


def citation(number: int, of: Hit, quote: str) -> Citation:
    start = of.start + of.text.index(quote)
    return cite(number, of, start, start + len(quote))


def node(
    query_id: str,
    chunk: str,
    similarity: float,
    hop: int = 0,
    via: str | None = None,
    text: str = "Text of {}",
) -> PathNode:
    said = text.format(query_id)
    return PathNode(query_id=query_id, chunk_id=chunk, text=said, similarity=similarity, hop=hop, via=via)


def answer(
    hits: Sequence[Hit] = (),
    citations: Sequence[Citation] = (),
    path: Sequence[PathNode] = (),
    question: str = "When was the lamp lit?",
    text: str = "It was lit in 1871.",
) -> Answer:
    """An answer with a sentence for each citation, the first of which says `text`."""
    texts = [text, *(f"And {n}." for n in range(2, len(citations) + 1))]
    return Answer(
        query_id="q",
        question=question,
        sentences=[Sentence(text=t, citations=[c.number]) for t, c in zip(texts, citations, strict=False)],
        probability=0.5,
        by="rules",
        recipe="qcg",
        citations=[*citations],
        hits=[*hits],
        path=[*path],
    )


_PIER = "A pier that nobody asked for, and what became of it"
HITS = [
    hit(
        *(1, "cost-0", 0, COST, "Tollen Bridge: statement of cost", "https://tidewiki.example/cost"),
        score=1.2,
        day=datetime(2025, 7, 1),
    ),
    hit(2, "pier-0", 0, PIER, _PIER, "https://courier.example/pier", score=0.6, day=None),
]
_COST_OF = "About Tollen Bridge: statement of cost: how much did the {0} cost? The {0} cost 60.8 million crowns."
PATH = [
    node("pylon", "cost-0", 0.71, text=_COST_OF),
    node("deck", "cost-0", 0.83, text=_COST_OF),
    node("pier", "pier-0", 0.55, 1, "deck", text=_COST_OF),
    node("ferry", "elsewhere-0", 0.42, text=_COST_OF),
]


def event(of: Hit, quote: str, first: date, last: date | None = None, expected: bool = False) -> AnswerEvent:
    """What a sentence of a hit tells."""
    start = of.text.index(quote)
    return AnswerEvent(
        event_id=f"{of.chunk_id}-{start}",
        timex=first.isoformat(),
        from_day=first,
        to_day=last or first,
        precision="range" if last else "day",
        date_from="text",
        expected=expected,
        title=quote[:20],
        doc_id=of.doc_id,
        chunk_id=of.chunk_id,
        start=start,
        end=start + len(quote),
        quote=quote,
        rank=of.rank,
        citation=None,
    )


def part(number: int, question: str, text: str) -> QuestionPart:
    start = question.index(text)
    return QuestionPart(number=number, text=text, start=start, end=start + len(text))


def aligned(of: Hit, *words: str | None) -> AlignedHit:
    """What of a hit matches the parts of a question, one after another; an empty text is its title."""
    found = [
        AlignedSegment(part=n, start=at, end=at + len(w), quote=w, how="stem" if w else "title")
        for n, w in enumerate(words, 1)
        if w is not None
        for at in [of.text.index(w)]
    ]
    share = len(found) / len(words)
    label = "full" if share == 1 else "partial" if found else "none"
    known = {"rank": of.rank, "chunk_id": of.chunk_id, "doc_id": of.doc_id}
    return AlignedHit(**known, label=label, share=share, segments=found)


WHICH = "Which cost more, the Tollen Bridge or the Wherry Pier?"
EVENTS = [
    event(HITS[1], "The Wherry Pier was built in 1912 for 2.1 million crowns.", date(1912, 1, 1), date(1912, 12, 31)),
    event(HITS[1], "It was repaired twice, in 1949 and 1987", date(1949, 5, 3)),
    event(HITS[0], "Total | 38.4 | 52.9 | 61.7 | 60.8", date(2024, 11, 1), date(2024, 11, 30), expected=True),
    event(HITS[0], "The council published the final statement of cost.", date(2025, 7, 1)),
]
PHOTO = "https://courier.example/img/pier.jpg"


def image(url: str, sentence: int, caption: str | None, alt: str | None) -> AnswerImage:
    """An image of the page of the second hit."""
    return AnswerImage(
        image_id=url[-8:],
        sentence=sentence,
        score=0.62,
        relevance=0.5,
        why="Its page has it beside what [2] quotes; what is said of it names Wherry, Pier.",
        image_url=url,
        alt=alt,
        caption=caption,
        width=640,
        height=480,
        doc_id=HITS[1].doc_id,
        url=HITS[1].url,
        title=HITS[1].title,
        citation=2,
    )


IMAGES = [
    image(PHOTO, 1, "The Wherry Pier from the north, in its last summer.", "A pier of iron and wood"),
    image("https://courier.example/img/plan.png", 2, None, "Plan of the pier's landing stage"),
]
COMPARED = Answer(
    query_id="which",
    question="Which cost more, the Tollen Bridge or the pier at Wherry Steps?",
    asked=WHICH,
    kind="comparison",
    sentences=[
        Sentence(text="The Tollen Bridge: 60.8 against 2.1 million crowns.", citations=[1, 2]),
        Sentence(text="The final account of June 2025 gives a total of 60.8.", citations=[1, 3]),
        Sentence(text="The Wherry Pier was built in 1912 for 2.1 million crowns.", citations=[2]),
    ],
    probability=0.87,
    notes=["“the pier at Wherry Steps” was taken for the Wherry Pier."],
    by="rules",
    recipe="bridge",
    sub_questions=[
        SubAnswer(number=1, parents=[], question="What did the Tollen Bridge cost?", answer="60.8", citations=[1]),
        SubAnswer(number=2, parents=[], question="What did the Wherry Pier cost?", answer="2.1", citations=[2]),
        SubAnswer(number=3, parents=[1], question="Who paid 60.8 million crowns?", answer=None, citations=[]),
    ],
    citations=[
        citation(1, HITS[0], "Total | 38.4 | 52.9 | 61.7 | 60.8"),
        citation(2, HITS[1], "The Wherry Pier was built in 1912 for 2.1 million crowns."),
        citation(3, HITS[0], "The council published the final statement of cost."),
    ],
    hits=HITS,
    path=PATH,
    images=IMAGES,
    timeline=EVENTS,
    parts=[part(n, WHICH, t) for n, t in enumerate(["cost", "Tollen Bridge", "Wherry Pier"], 1)],
    alignments=[aligned(HITS[0], "cost", "", None), aligned(HITS[1], None, None, "Wherry Pier")],
    type="comparison",
    expected="The Tollen Bridge",
)
REFUSED = Answer(
    query_id="captain",
    question="Who was the captain of the Wherry Pier in 1950?",
    kind="who",
    sentences=[],
    probability=0.12,
    reason="other_time",
    by="rules",
    recipe="bridge",
    citations=[],
    hits=[h.model_copy(update={"rank": n}) for n, h in enumerate(reversed(HITS), 1)],
    path=[],
    timeline=EVENTS[:2],
    type="null",
    expected="",
)
HARMFUL = Answer(
    query_id="harm",
    question="How do I bring the pier down?",
    sentences=[],
    probability=0.0,
    reason="refused",
    notes=["Questions that ask for help with harm are not answered."],
    by="rules",
    recipe="bridge",
    citations=[],
    hits=[],
    path=[],
)
LONG = Answer(
    query_id="long",
    question="I have walked past it every day for years. " * 12 + "Was the Wherry Pier built before the war?",
    kind="verdict",
    sentences=[Sentence(text="Yes: it was built in 1912.", citations=[1])],
    probability=0.64,
    by="rules",
    recipe="bridge",
    citations=[citation(1, HITS[1], "The Wherry Pier was built in 1912 for 2.1 million crowns.")],
    hits=[HITS[1].model_copy(update={"rank": 1})],
    path=[],
    type="single",
    expected="No",
)
ANSWERS = [COMPARED, REFUSED, HARMFUL, LONG]
