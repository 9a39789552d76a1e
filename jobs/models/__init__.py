"""Embedding models on this machine: their folders, runtimes and precision."""
