"""What the DAGs share: the command `quern`, run so that nothing outlives its task; the build's list of steps."""
