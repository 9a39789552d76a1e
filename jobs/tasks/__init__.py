"""Reasoning steps: each a prompt, an output model and a rule."""
