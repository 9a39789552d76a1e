"""The builder of the query-centric graph: exact, approximate and incremental neighbours, and bridges."""
