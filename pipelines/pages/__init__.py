"""How pages come into a warehouse: crawled or read of files, into its page store."""
