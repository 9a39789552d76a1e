"""Seeking sources that answer questions: candidates, their validation, and seeds for the next crawl."""
