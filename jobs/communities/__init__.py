"""Communities of the query-centric graph, and answers to questions about a whole corpus that are made of them."""
