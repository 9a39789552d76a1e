"""Exact and near duplicates: shingles, signatures, buckets, clusters, and what is kept from night to night."""
