"""The table `pages`: reading of folders, JSONL and archives, and which capture of an address stays."""
