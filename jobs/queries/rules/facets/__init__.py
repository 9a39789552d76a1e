"""What the vectors of pairs are made of: each unit of a chunk in words that name its document and its speakers."""
