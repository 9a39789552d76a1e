"""What the query-centric graph of a snapshot looks like: structure, hubs, communities, chunk to chunk; exports."""
