"""Retrieval over a whole batch of questions: a searcher of a snapshot, a batch, and recipes that rank its chunks.

No recipe loops over questions or nodes: search is one matrix product per batch, widening and walking are sparse
products, chunk scores segmented reductions.
"""
