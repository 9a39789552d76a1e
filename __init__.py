"""Quern grinds a web corpus into a query-centric index, and answers batches of questions from it with citations."""
