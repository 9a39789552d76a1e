"""Measuring answers: are they right, do they refuse where they should, are they cited."""
