"""The table `documents`: main text and metadata, one form of text, duplicates."""
