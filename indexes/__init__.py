"""Everything that stores or searches: snapshots, memo, tables, vectors, the query graph, full text."""
