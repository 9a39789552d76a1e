"""Judges of answers: what they are asked, what of it a rule can tell, and how far people agree with them."""
