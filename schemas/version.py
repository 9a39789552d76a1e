"""The version of Quern: `pyproject.toml` reads it here, so that it needs no name of an installed distribution."""

VERSION = "0.1.0"
