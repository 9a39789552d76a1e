"""A task: a prompt, an output model and a rule; and what carries it out, over a table or a list of questions."""
