"""Whether an answer fits what was asked: laws by which one that was chosen does not stand."""
