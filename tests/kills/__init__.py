"""The kill harness: `quern` is killed at random moments and at each boundary of its stages, and run again."""
