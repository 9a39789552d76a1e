"""The Python API: `import quern` gives the functions of this package, and what they take and return.

A warehouse is given as a path or as a `Warehouse`, settings as `Settings` or as `{"group.name": value}`. `asking`
builds and asks, `looking` looks at snapshots and measures.
"""
