"""The contract of Quern: table schemas, settings, expectations and digests. Imports nothing else of ours."""
