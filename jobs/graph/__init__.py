"""The tables `nodes` and `edges`: which queries are kept, and how they are joined."""
