"""Views of an answer: on a terminal, in the report, as a picture of its path."""
