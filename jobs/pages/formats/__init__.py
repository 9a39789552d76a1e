"""Pages from files: HTML, JSONL, WARC, in every compression, on disk and in object stores."""
