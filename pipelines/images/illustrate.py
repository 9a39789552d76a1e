"""The images of answers: of the pages of their evidence, those that bear on the question, beside their sentences.

Xinyu AI Search, section 3.6.3: what the rules left in when the index was built (`jobs.images.rules`), whose description
is like the question, placed by `jobs.images.place`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from quern.jobs.images.place import Described, Mask, Matrix, Remembered, likeness, placed, relevance
from quern.jobs.images.rules import description
from quern.jobs.images.seen import loaded_clip
from quern.jobs.text.stems import content_words
from quern.pipelines.retrieve.searcher import Searcher
from quern.schemas.answers import Answer, AnswerImage, Citation
from quern.schemas.tables import IMAGES
from quern.schemas.words.lines import one_line

Row = dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """An image of a page of the evidence."""

    row: Row  # Its row of the table.
    title: str | None  # Title of its page.
    url: str | None  # Address of its page.
    text: str  # Main text of its page.
    relevance: float = 0.0  # Likeness of what is said of it and the question; 0 until there is a question.

    @cached_property
    def said(self) -> Described:
        """What is said of it."""
        return Described(description(self.row["alt"], self.row["caption"]), self.title or "", self.text)

    def beside(self, citations: Sequence[Citation]) -> Citation | None:
        """The citation whose quote stands in the paragraph that the page sets it beside."""
        start, end = self.row["start"], self.row["end"]
        if start is None or end is None:
            return None
        own = (c for c in citations if c.doc_id == self.row["doc_id"])
        return next((c for c in own if c.start < end and c.end > start), None)


def illustrated(searcher: Searcher, answers: Sequence[Answer]) -> list[Answer]:
    """The answers with the images that stand beside their sentences; as they are where the snapshot has no images."""
    held = searcher.snapshot.manifest.tables.get(IMAGES.name)
    if held is None or held.rows == 0 or searcher.settings.images.most == 0:
        return list(answers)
    # At most five documents of an answer's evidence, those that it cites first; none where nothing was answered.
    doc_ids = [
        list(dict.fromkeys([*(c.doc_id for c in answer.citations), *(h.doc_id for h in answer.hits)]))[:5]
        if answer.found
        else []
        for answer in answers
    ]
    of_document = _candidates(searcher, sorted({doc for docs in doc_ids for doc in docs}))
    if not of_document:
        return list(answers)
    encode, pictures = searcher.held(_encoder), searcher.pictures
    fit: list[list[Candidate]] = []
    for answer, docs in zip(answers, doc_ids, strict=True):
        images = [image for doc in docs for image in of_document.get(doc, ())]
        question = answer.asked or answer.question
        alike = relevance(question, [image.said for image in images], encode).tolist() if images else []
        least = searcher.settings.images.relevance
        fit.append([replace(i, relevance=r) for i, r in zip(images, alike, strict=True) if r >= least])
    if pictures is not None and searcher.settings.images.clip:
        pictures.fetch([image.row["url"] for images in fit for image in images])
    results = [_illustrated(searcher, a, images, encode) for a, images in zip(answers, fit, strict=True)]
    if pictures is not None:
        pictures.fetch([image.image_url for answer in results for image in answer.images])
    return results


def _encoder(searcher: Searcher) -> Remembered:
    return Remembered(searcher.question_embedder)


def _candidates(searcher: Searcher, documents: Sequence[str]) -> Mapping[str, list[Candidate]]:
    """At most eight images of each of these documents that no rule left out, in the order in which they stand there."""
    if not documents:
        return {}
    rows = searcher.snapshot.table(IMAGES.name).lookup("doc_id", documents)
    rows = rows.filter(pc.is_null(rows["out_by"]))
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows.to_pylist(), key=lambda row: (row["doc_id"], row["place"])):
        found[row["doc_id"]].append(row)
    if not found:
        return {}
    columns = ["doc_id", "title", "url", "text"]
    pages = searcher.snapshot.table("documents").lookup("doc_id", sorted(found), columns).to_pylist()
    return {
        page["doc_id"]: [Candidate(row, page["title"], page["url"], page["text"]) for row in found[page["doc_id"]][:8]]
        for page in pages
    }


def _illustrated(searcher: Searcher, answer: Answer, images: Sequence[Candidate], encode: Remembered) -> Answer:
    if not images:
        return answer
    settings = searcher.settings.images
    quoted = {c.number: c for c in answer.citations}
    cited = [[quoted[n] for n in sentence.citations if n in quoted] for sentence in answer.sentences]
    texts = [
        one_line(" ".join(dict.fromkeys([sentence.text, *(c.quote for c in own)])))
        for sentence, own in zip(answer.sentences, cited, strict=True)
    ]
    beside: Mask = np.array([[image.beside(own) is not None for image in images] for own in cited])
    seen: Matrix | None = None  # What a model that sees makes of them; NaN where there is no picture.
    if (pictures := searcher.pictures) is not None and settings.clip:
        found = [pictures.get(image.row["url"]) for image in images]
        seen = loaded_clip(settings.clip).likeness(texts, [picture.body if picture else None for picture in found])
    places = placed(likeness(texts, [image.said for image in images], encode, beside, seen), settings.threshold)
    best = sorted(places, key=lambda place: -place.score)[: settings.most]
    shown = []
    for place in sorted(best, key=lambda place: place.paragraph):
        image, row = images[place.image], images[place.image].row
        shown.append(
            AnswerImage(
                image_id=row["image_id"],
                sentence=place.paragraph + 1,
                score=round(place.score, 4),
                relevance=round(image.relevance, 4),
                why=_why(image, texts[place.paragraph], image.beside(cited[place.paragraph])),
                image_url=row["url"],
                **{name: row[name] for name in ("alt", "caption", "width", "height", "doc_id")},
                url=image.url,
                title=image.title,
                citation=next((c.number for c in answer.citations if c.doc_id == row["doc_id"]), None),
            )
        )
    return answer.model_copy(update={"images": shown})


def _why(image: Candidate, text: str, beside: Citation | None) -> str:
    """What puts an image beside a sentence: where its page has it, and the words that they share."""
    has, shared = content_words(text), list[str]()
    for word in image.said.description.split():
        bare = word.strip(".,;:!?()[]\"'“”‘’")
        if bare.casefold() not in map(str.casefold, shared) and content_words(bare) & has:
            shared.append(bare)
    # Words that are named as those that an image and a sentence share.
    names = sorted(shared, key=lambda word: not word[:1].isupper())[:3]
    reasons = [f"its page has it beside what [{beside.number}] quotes"] if beside else []
    if names:
        reasons.append(f"what is said of it names {', '.join(names)}")
    reason = "; ".join(reasons) or "what is said of it is near to the sentence"
    return f"{reason[0].upper()}{reason[1:]}."
