"""The measures of Know Where to Go, over the sources that were found for questions.

*Timeliness*: the source exists. *Access*: its pages can be had. *Consistency*: name and address belong together.
*Validity*: it answers. *Precision*: its evidence suffices. The paper has people judge them. Here the first three are
shares of the sources proposed, as their checks found them; the others are shares of those that were found to answer: by
gold evidence validity is to publish a gold page, and precision to have four of five words of the gold answer in the
sentences shown. Without gold they tell what the validator itself thinks, as shares of the sources proposed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence

from quern.jobs.text.stems import content_words
from quern.schemas.answers import Question
from quern.schemas.sources import FoundSources, RatedSource
from quern.schemas.words.lines import one_line, shortened

SiteOf = Callable[[Question], tuple[set[str], set[str]]]
"""The sites of a question's gold pages; and those of all pages that hold the answer or part of it."""


def measured(questions: Sequence[Question], found: Sequence[FoundSources], sites: SiteOf) -> dict[str, float]:
    """The measures, and of gold questions the share with a gold page's source among the first three."""
    proposed = [source for one in found for source in one.sources]
    figures = {
        "timeliness": _share(source.known for source in proposed),
        "access": _share(source.accessible for source in proposed),
        "consistency": _share(source.consistent for source in proposed),
    }
    gold = [(q, one, *sites(q)) for q, one in zip(questions, found, strict=True)]
    gold = [row for row in gold if row[2]]
    if not gold:
        figures["validity"] = _share(source.answers for source in proposed)
        figures["precision"] = _share(source.answers and bool(source.evidence) for source in proposed)
        return figures
    valid = [(q, source, also) for q, one, _, also in gold for source in one.valid]
    figures["validity"] = _share(source.site in also for _, source, also in valid)
    shown = []
    for question, source, _ in valid:
        answer_words = content_words(question.answer or "")
        words = content_words(" ".join(piece.text for piece in source.evidence))
        shown.append(bool(answer_words) and len(answer_words & words) >= 0.8 * len(answer_words))
    figures["precision"] = _share(shown)
    first = [bool(own & {s.site for s in one.sources[:3]}) for _, one, own, _ in gold]
    figures["gold source among the first three"] = _share(first)
    figures["gold source found to answer"] = _share(bool(own & {s.site for s in one.valid}) for _, one, own, _ in gold)
    figures["sources found to answer, a question"] = len(valid) / len(gold)
    return figures


def sites_by(site_of: Mapping[str, str]) -> SiteOf:
    """The sites of gold pages, by the site of each document's key and address."""

    def sites(question: Question) -> tuple[set[str], set[str]]:
        gold = {site_of[k] for k in (*question.evidence_doc_ids, *question.evidence_urls) if k in site_of}
        return gold, gold | {site_of[k] for k in question.also_urls if k in site_of}

    return sites


def _share(held: Iterable[bool]) -> float:
    every = list(held)
    return sum(every) / len(every) if every else 0.0


_INDENT = 4


def render_sources(found: FoundSources, width: int = 100) -> str:
    """The sources as lines of at most `width` characters, but for addresses."""
    count = len(found.valid)
    head = f"{count} {'source answers' if count == 1 else 'sources answer'}: {one_line(found.question)}"
    lines = textwrap.wrap(head, width)
    for source in found.valid:
        lines += ["", f"{_called(source)}  score {source.score:.2f}"]
        for piece in source.evidence:
            quote = f"“{shortened(piece.text, 300)}”"
            lines += textwrap.wrap(quote, width, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)
            lines.append(f"{' ' * _INDENT}{one_line(piece.url or piece.doc_id)}")
    others = [source for source in found.sources if not source.answers]
    if others:
        lines += ["", "not taken:"]
        lines += [f"{' ' * _INDENT}{_called(s)}  score {s.score:.2f}: {one_line(s.why_not or '')}" for s in others]
    return "\n".join(lines)


def _called(source: RatedSource) -> str:
    home = source.home_url or source.site
    return one_line(home if source.name in (source.site, home) else f"{source.name}, {home}")
