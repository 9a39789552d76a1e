"""The steps from a question to its answer, each a task (`jobs.tasks`)."""
