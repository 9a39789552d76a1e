"""Pages from files: HTML, JSONL, WARC and ARC, in every compression, on disk and in object stores."""
