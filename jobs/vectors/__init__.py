"""Embeddings of texts, and the tables that they are joined to."""
