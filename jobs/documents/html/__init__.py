"""Main text and metadata of HTML pages, found in a child process."""
