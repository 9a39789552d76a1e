"""Sweeps: what each choice is worth, measured over datasets, settings and recipes."""
