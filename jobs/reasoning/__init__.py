"""Reasoning steps as tasks: a prompt, an output model and a rule; and what carries them out."""
