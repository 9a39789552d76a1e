"""The query-centric graph of a snapshot: its structure, and with its vectors for search."""

from quern.indexes.graph.query_graph import Keyed, QueryGraph, VectorIndexes, Widened
from quern.indexes.graph.structure import Documents, Edges, Members

__all__ = ["Documents", "Edges", "Keyed", "Members", "QueryGraph", "VectorIndexes", "Widened"]
