"""Answers as pages: the report, its passages and the picture of the graph."""
