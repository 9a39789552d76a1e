"""What carries out the tasks that a model does: an endpoint, vLLM on Ray, or a model in this process."""
