"""Fine-grained alignment: which words of a question which words of a chunk answer (GGatrieval, FGA)."""
