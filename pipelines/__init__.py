"""Compositions of jobs: the build, the query runner, evaluation, and the command line."""
