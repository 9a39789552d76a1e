"""Timelines of a snapshot: of a topic, of an entity, of the chunks that a question found."""
