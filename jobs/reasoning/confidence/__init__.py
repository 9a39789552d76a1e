"""How sure an answer is: the calibrated probability that the evidence answers a question, and why it may not."""
