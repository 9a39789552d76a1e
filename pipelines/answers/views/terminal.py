"""An answer on a plain terminal: its text, its sources, the chunks found, and the path through the graph as a tree."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from quern.pipelines.answers.views.path import strongest
from quern.schemas.answers import Answer, Citation, Hit, PathNode
from quern.schemas.words.lines import one_line, plain, shortened

PREVIEW = 200


def _date(published_at: datetime | None) -> str:
    return published_at.date().isoformat() if published_at else "undated"


def _source(citation: Citation) -> tuple[Text, Text]:
    text = Text.assemble((one_line(citation.title or citation.doc_id), "bold"), f" · {_date(citation.published_at)}")
    if citation.url:
        text.append("\n" + one_line(citation.url), "blue")
    text.append(f"\n“{one_line(citation.quote)}”")
    text.append(f"\n{one_line(citation.doc_id)}, characters {citation.start}–{citation.end}", "dim")
    return Text(f"[{citation.number}]", "bold cyan"), text


def _chunk(hit: Hit) -> tuple[Text, Text]:
    text = Text.assemble(f"{hit.score:.3f}  ", (one_line(hit.chunk_id), "green"))
    if hit.title:
        text.append("  " + one_line(hit.title), "bold")
    text.append("\n" + shortened(hit.text, PREVIEW))
    return Text(f"{hit.rank}", "bold"), text


def _numbered(rows: Iterable[tuple[Text, Text]]) -> Table:
    """Blocks with their numbers in a column of their own."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for number, block in rows:
        table.add_row(number, block)
    return table


def _grow(branch: Tree, nodes: list[PathNode], children: dict[str, list[PathNode]], hits: dict[str, Hit]) -> None:
    for node in nodes:
        twig = branch.add(Text.assemble((f"{node.similarity:.2f} ", "yellow"), shortened(node.text, PREVIEW)))
        hit = hits.get(node.chunk_id)
        if hit is not None:
            twig.add(Text.assemble("→ chunk ", (f"{hit.rank}", "bold"), " ", (one_line(hit.chunk_id), "green")))
        _grow(twig, children.get(node.query_id, []), children, hits)


def _tree(answer: Answer) -> Tree:
    """Question → matched node (similarity) → neighbour → chunk; question → chunk where no node was used."""
    tree = Tree(Text(one_line(answer.question), "bold"), guide_style="dim")
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
    yield from (Text(one_line(answer.question), "bold"), "")
    yield Text(plain(answer.answer).strip(), "" if answer.found else "yellow")
    if answer.citations:
        yield from ("", Text("Sources", "bold underline"), _numbered(map(_source, answer.citations)))
    if answer.hits:
        name = "Chunks" if answer.found else "Nearest chunks, too weak to answer from"
        yield from (
            "",
            Text(f"{name} ({one_line(answer.recipe)})", "bold underline"),
            _numbered(map(_chunk, answer.hits)),
        )
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
