"""An answer on a plain terminal: the short answer first, what became of the question, its sources, chunks and path."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from quern.pipelines.answers.views.passages import (
    ShownImage,
    Source,
    Statement,
    images_of,
    parts_of,
    quotes_of,
    sources_of,
    statements_of,
)
from quern.pipelines.answers.views.path import label_of, strongest
from quern.pipelines.answers.views.words import reason_of
from quern.schemas.answers import Answer, Hit, PathNode, cited
from quern.schemas.words.lines import one_line, shortened

PREVIEW = 200


def _source(source: Source) -> tuple[Text, Text]:
    of = source.of
    published = of.published_at.date().isoformat() if of.published_at else "undated"
    text = Text.assemble((one_line(of.title or of.doc_id), "bold"), f" · {published}")
    if of.url:
        text.append("\n" + one_line(of.url), "blue")
    several = len(source.quotes) > 1
    for quote in source.quotes:
        citation = quote.citation
        text.append("\n")
        if several:
            text.append(f"[{citation.number}] ", "bold cyan")
        text.append(f"“{one_line(citation.quote)}”")
        page = f", page {citation.page}" if citation.page else ""
        text.append(f"\n{one_line(citation.doc_id)}{page}, characters {citation.start}–{citation.end}", "dim")
    return Text(cited([q.citation.number for q in source.quotes]), "bold cyan"), text


def _sentence(statement: Statement) -> Text:
    text = Text(one_line(statement.text))
    if statement.quotes:
        text.append(" ").append(cited([q.citation.number for q in statement.quotes]), "cyan")
    return text


def _answer(answer: Answer, statements: Sequence[Statement]) -> Iterable[RenderableType]:
    """The answer, the short one in a line of its own, or why there is none; then what a reader should know of it."""
    if not answer.found:
        words = [] if answer.reason == "refused" else [answer.answer]
        yield Text(" ".join([*words, *filter(None, [reason_of(answer)])]), "yellow")
    elif statements[0].topic:
        for topic, of in groupby(statements, key=lambda statement: statement.topic):
            yield Text(one_line(topic or ""), "bold")
            yield from map(_sentence, of)
            yield ""
    else:
        first, *others = map(_sentence, statements)
        if others:
            first.stylize("bold")
            yield from (first, "")
            first, *others = others
        yield Text(" ").join([first, *others])
    yield ""
    if answer.reason != "refused":
        yield Text(f"Evidence: {100 * answer.probability:.0f} %", "dim")
    if answer.asked:
        yield Text.assemble(("Understood as: ", "dim"), one_line(answer.asked))
    if answer.as_of:
        yield Text.assemble(("As of: ", "dim"), f"{answer.as_of.isoformat()}; what was published later is left out")
    yield from (Text.assemble(("Note: ", "dim"), one_line(note)) for note in answer.notes)


def _image(image: ShownImage) -> tuple[str, Text]:
    text = Text.assemble((image.words, "bold"), ("\n" + one_line(image.of.image_url), "dim"))
    return f"{image.of.sentence}", text.append(f"\n{one_line(image.of.why)}", "dim")


def _chunk(hit: Hit) -> tuple[str, Text]:
    text = Text.assemble(f"{hit.score:.3f}  ", (one_line(hit.chunk_id), "green"))
    if hit.title:
        text.append("  " + one_line(hit.title), "bold")
    return f"{hit.rank}", text.append("\n" + shortened(hit.text, PREVIEW))


def _numbered(
    title: str, rows: Iterable[tuple[str | Text, Text]], justify: JustifyMethod = "right"
) -> Iterable[RenderableType]:
    """Blocks under a title, with their numbers in a column of their own."""
    yield from ("", Text(title, "bold underline"))
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify=justify, no_wrap=True)
    table.add_column(overflow="fold")
    for number, block in rows:
        table.add_row(Text(number, "bold") if isinstance(number, str) else number, block)
    yield table


def _grow(branch: Tree, nodes: list[PathNode], children: dict[str, list[PathNode]], hits: dict[str, Hit]) -> None:
    """Put nodes on a branch, the nearest to the question first, each with its chunk and those reached through it."""
    titles = {hit.title for hit in hits.values() if hit.title}
    for node in sorted(nodes, key=lambda n: -n.similarity):
        label = shortened(label_of(node.text, titles), 120)
        twig = branch.add(Text.assemble((f"{node.similarity:.2f} ", "yellow"), label))
        hit = hits.get(node.chunk_id)
        if hit is not None:
            twig.add(Text.assemble("→ chunk ", (f"{hit.rank}", "bold"), " ", (one_line(hit.chunk_id), "green")))
        _grow(twig, children.get(node.query_id, []), children, hits)


def _tree(answer: Answer) -> Tree:
    """Question → matched node (similarity) → neighbour → chunk; question → chunk where no node was used."""
    tree = Tree(Text(shortened(answer.question, PREVIEW), "bold"), guide_style="dim")
    if not answer.path:
        for hit in answer.hits:
            tree.add(Text.assemble((f"{hit.score:.3f} ", "yellow"), "→ chunk ", one_line(hit.chunk_id)))
        return tree
    shown = strongest(answer.path, answer.hits)
    children: dict[str, list[PathNode]] = defaultdict(list)
    roots: list[PathNode] = []
    for node in shown.nodes.values():
        in_reach = node.via in shown.nodes and shown.nodes[node.via].hop < node.hop
        (children[node.via] if in_reach and node.via is not None else roots).append(node)
    _grow(tree, roots, children, {hit.chunk_id: hit for hit in answer.hits})
    if shown.hidden:
        tree.add(Text(f"and {len(shown.hidden)} more", "dim"))
    return tree


def _blocks(answer: Answer) -> Iterable[RenderableType]:
    quotes = quotes_of(answer, "")
    yield from (Text(one_line(answer.question), "bold"), "")
    yield from _answer(answer, statements_of(answer, quotes))
    rows: list[tuple[str | Text, Text]] = []
    for part in parts_of(answer, quotes):  # Each further to the right than those it needed.
        text = Text(one_line(part.question))
        if part.parents:
            text.append(f" (after {', '.join(map(str, part.parents))})", "dim")
        text.append("\n→ ", "dim").append(_sentence(part.statement) if part.statement else Text("no answer", "yellow"))
        rows.append(("  " * min(part.depth, 3) + str(part.number), text))
    if rows:
        yield from _numbered("Sub-questions", rows, "left")
    if answer.citations:
        yield from _numbered("Sources", map(_source, sources_of(quotes)))
    if answer.images:
        yield from _numbered("Images", map(_image, images_of(answer)))
    if answer.hits:
        name = "Chunks" if answer.found else "Nearest chunks, too weak to answer from"
        yield from _numbered(f"{name} ({one_line(answer.recipe)})", map(_chunk, answer.hits))
        yield from ("", Text("Path", "bold underline"), _tree(answer))


def render_text(answer: Answer, *, width: int, color: bool) -> str:
    """The answer, its sources, its chunks and its path, wrapped to `width` columns, with a line feed at the end.

    What comes from the corpus cannot drive the terminal: its control characters are taken out.
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(width, 20),
        height=25,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for block in _blocks(answer):
        console.print(block)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
