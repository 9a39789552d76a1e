"""Great Expectations over Arrow: an execution engine, its metrics, and views with derived columns."""
