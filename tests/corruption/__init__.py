"""Damage to kept files, and what becomes of a warehouse that has it.

A trial takes a copy of a small warehouse, flips a bit of one file or cuts it, reads all that a reader can, then lets
the next night come. It runs in another process, so that a crash is counted and ends nothing.
"""
