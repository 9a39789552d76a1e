"""Answers: composed, shown on a terminal, written as files."""
