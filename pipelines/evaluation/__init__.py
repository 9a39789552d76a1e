"""How good results are: retrieval, answers, sweeps over settings."""
