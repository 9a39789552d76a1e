"""What a table declares: its columns, keys and references, and what the audit expects of it."""
