"""Tasks about the question itself, before anything is looked for."""
