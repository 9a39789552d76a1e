"""Benchmarks that can be run anywhere: `python -m tests.benchmarks NAME`.

The rival and the product take turns within a round, so that both meet the same noise; the figure is the median of
the rounds' ratios.
"""
