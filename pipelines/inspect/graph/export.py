"""The graph for other tools, GraphML for Gephi, Cytoscape and networkx, or Parquet tables; a question's path as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lxml import etree

from quern.indexes.catalog import Snapshot
from quern.indexes.graph.communities import Communities
from quern.indexes.storage import write_text, write_whole
from quern.pipelines.answers.views.passages import passages_of
from quern.pipelines.answers.views.picture import picture_of
from quern.pipelines.answers.views.report import page_environment
from quern.pipelines.inspect.graph.structure import Structure
from quern.schemas.answers import Answer
from quern.schemas.errors import QuernError
from quern.schemas.words.lines import printable

Layer = Literal["both", "nodes", "chunks"]
LAYERS: tuple[Layer, ...] = ("both", "nodes", "chunks")
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_KEYS = {
    "node": {"layer": "string", "label": "string", "document": "string", "in_degree": "int", "community": "int"},
    "edge": {"kind": "string", "similarity": "double", "edges": "int"},
}
_PIECE = 4096


class GraphError(QuernError):
    """An export that cannot be written; the message says what to do."""


def export_graph(
    snapshot: Snapshot, graph: Structure, division: Communities, path: Path, layer: Layer = "both"
) -> list[Path]:
    """Write the graph to a `.graphml` file, or as Parquet tables to a folder; returns what was written.

    Raises:
        GraphError: The place has another ending, or cannot be written to.
    """
    try:
        if path.suffix == ".graphml":
            write_whole(path, lambda temporary: _write_graphml(snapshot, graph, division, temporary, layer))
            return [path]
        if path.suffix or path.is_file():
            raise GraphError(f"--export {path}: name a file that ends in .graphml, or a folder for Parquet tables")
        return _write_tables(snapshot, graph, division, path)
    except OSError as error:
        raise GraphError(f"--export {path} cannot be written: {error.strerror}") from error


def _write_graphml(snapshot: Snapshot, graph: Structure, division: Communities, path: Path, layer: Layer) -> None:
    """Vertices and edges one by one, so that memory does not grow with texts."""
    # A file of Python's: its errors are those of the system, where lxml has its own.
    with path.open("wb") as file, etree.xmlfile(file, encoding="utf-8") as xml:
        xml.write_declaration()
        with xml.element("graphml", nsmap={None: _NAMESPACE}):
            for kind, fields in _KEYS.items():
                for name, type_ in fields.items():
                    named = {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": type_}
                    xml.write(etree.Element("key", named))
            with xml.element("graph", edgedefault="undirected" if layer == "chunks" else "directed"):
                for vertex, attributes in _vertices(snapshot, graph, division, layer):
                    xml.write(_element("node", {"id": vertex}, attributes))
                for source, target, attributes in _arcs(graph, layer):
                    xml.write(_element("edge", {"source": source, "target": target}, attributes))


def _element(kind: str, attributes: Mapping[str, str], fields: Mapping[str, object]) -> Any:
    element = etree.Element(kind, {n: printable(v) for n, v in attributes.items()})
    for name, value in fields.items():
        field = etree.SubElement(element, "data", key=f"{kind}_{name}")
        field.text = printable(str(value))
    return element


def _vertices(
    snapshot: Snapshot, graph: Structure, division: Communities, layer: Layer
) -> Iterator[tuple[str, dict[str, object]]]:
    degrees = graph.in_degrees(graph.all_edges)
    places = {key: n for n, key in enumerate(graph.chunks.to_pylist())}
    documents = graph.documents.to_pylist()
    if layer != "nodes":
        for batch in snapshot.stage("chunks").batches(["chunk_id", "title", "text"]):
            for key, title, text in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                at = places[key]
                fields: dict[str, object] = {"layer": "chunk", "label": (title or text)[:300]}
                yield _chunk_id(key), fields | {"document": documents[graph.document[at]], "community": division.of[at]}
    if layer == "chunks":
        return
    at_node = {key: n for n, key in enumerate(graph.nodes.to_pylist())}
    for batch in snapshot.stage("nodes").batches(["query_id", "text"]):
        for key, text in zip(*(c.to_pylist() for c in batch.columns), strict=True):
            at = int(graph.owner[at_node[key]])
            fields = {"layer": "node", "label": text[:300], "document": documents[graph.document[at]]}
            yield _node_id(key), fields | {"in_degree": degrees[at_node[key]], "community": division.of[at]}


def _chunk_id(key: str) -> str:
    return f"chunk:{key}"


def _node_id(key: str) -> str:
    return f"node:{key}"


def _arcs(graph: Structure, layer: Layer) -> Iterator[tuple[str, str, dict[str, object]]]:
    if layer == "chunks":
        upper = _upper(graph)
        for rows in _parts(len(upper[0])):
            ends = (graph.chunks.take(pa.array(u[rows])).to_pylist() for u in upper[:2])
            for source, target, number in zip(*ends, upper[2][rows].tolist(), strict=True):
                yield _chunk_id(source), _chunk_id(target), {"kind": "chunks", "edges": number}
        return
    for kind, edges in graph.edges.items():
        for rows in _parts(len(edges)):
            ends = (graph.nodes.take(pa.array(e[rows])).to_pylist() for e in (edges.source, edges.target))
            for source, target, similarity in zip(*ends, edges.similarity[rows].tolist(), strict=True):
                yield _node_id(source), _node_id(target), {"kind": kind, "similarity": round(similarity, 6)}
    if layer == "both":
        for rows in _parts(len(graph.nodes)):
            chunks = graph.chunks.take(pa.array(graph.owner[rows])).to_pylist()
            for node, chunk in zip(graph.nodes[rows].to_pylist(), chunks, strict=True):
                yield _node_id(node), _chunk_id(chunk), {"kind": "belongs"}


def _parts(rows: int) -> Iterator[slice]:
    yield from (slice(at, at + _PIECE) for at in range(0, rows, _PIECE))


def _upper(graph: Structure) -> tuple[Any, Any, Any]:
    """(chunk, chunk, edges) of each pair of the projection once."""
    matrix = graph.projection.tocoo()
    once = matrix.row < matrix.col
    return matrix.row[once], matrix.col[once], matrix.data[once]


def _write_tables(snapshot: Snapshot, graph: Structure, division: Communities, folder: Path) -> list[Path]:
    """nodes, chunks, edges and chunk_edges as Parquet."""
    upper = _upper(graph)
    edges = graph.all_edges
    nodes = {
        "query_id": graph.nodes,
        "chunk_id": graph.chunks.take(pa.array(graph.owner)),
        "in_degree": graph.in_degrees(edges),
        "out_degree": np.bincount(edges.source, minlength=len(graph.nodes)),
        "component": graph.components(edges),
    }
    chunks = {
        "chunk_id": graph.chunks,
        "doc_id": graph.documents.take(pa.array(graph.document)),
        "degree": np.diff(graph.projection.indptr),
        "community": division.of,
    }
    pairs = {"source": graph.chunks.take(pa.array(upper[0])), "target": graph.chunks.take(pa.array(upper[1]))}
    tables = {
        "nodes": pa.table(nodes),
        "chunks": pa.table(chunks),
        "chunk_edges": pa.table({**pairs, "edges": upper[2]}),
    }
    for name, table in tables.items():
        _write(folder / f"{name}.parquet", table.schema, table.to_batches())
    stage = snapshot.stage("edges")
    _write(folder / "edges.parquet", stage.table.schema, stage.batches())
    return [folder / f"{name}.parquet" for name in (*tables, "edges")]


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    def write(temporary: Path) -> None:
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)

    write_whole(path, write)


def draw_path(answer: Answer) -> str:
    """The picture of the report's path, with its colours; one answer gives one picture.

    Raises:
        GraphError: There is no path to draw.
    """
    if not answer.hits:
        raise GraphError("there is no path to draw: no chunk was found for the question")
    passages = passages_of(answer, [], "picture")
    return page_environment().get_template("picture.svg.j2").render(picture=picture_of(answer, passages))


def write_path(answer: Answer, path: Path) -> None:
    """Write the picture to the file at `path`.

    Raises:
        GraphError: The name does not end in .svg, there is no path to draw, or the file cannot be written.
    """
    if path.suffix != ".svg":
        raise GraphError(f"--picture {path}: the picture is an SVG file; name one that ends in .svg")
    drawn = draw_path(answer)
    try:
        write_text(path, drawn + "\n")
    except OSError as error:
        raise GraphError(f"--picture {path} cannot be written: {error.strerror}") from error
