"""Words, sentences and scripts of texts."""
