"""How good results are: retrieval, main text, sweeps over settings."""
