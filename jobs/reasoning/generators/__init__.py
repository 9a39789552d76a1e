"""What carries out the tasks that a model does: an endpoint, or vLLM on Ray; one runner for both."""
