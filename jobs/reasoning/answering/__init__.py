"""Answering a question from its evidence."""
