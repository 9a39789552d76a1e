"""The nightly build: its steps, whole or each in a process of its own: write, audit, publish."""
