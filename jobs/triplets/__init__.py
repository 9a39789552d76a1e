"""Triplets: what chunks state of things, as subject, relation and object, and the entities that they name."""
