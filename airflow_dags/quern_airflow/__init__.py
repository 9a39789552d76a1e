"""DAGs of Quern: functions that make them, and the command `quern`, run so that nothing outlives its task."""
