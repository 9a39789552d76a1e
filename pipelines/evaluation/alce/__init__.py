"""ALCE's measures of answers with citations (Gao et al. 2023, arXiv 2305.14627), over its files and over ours."""
