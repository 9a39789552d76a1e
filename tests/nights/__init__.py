"""Random nights: what happens to a corpus from one to the next, and builds that are compared."""
