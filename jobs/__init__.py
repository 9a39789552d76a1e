"""Everything that makes one table from others, and the engines that run it."""
