"""Answers about a whole corpus: what is read for a question, and what is written of it."""
