"""Looking into a warehouse: rows and their origins, rejects, the graph, estimates."""
