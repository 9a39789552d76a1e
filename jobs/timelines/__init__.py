"""The table `timelines`: events of one entity, community or site in the order of time."""
