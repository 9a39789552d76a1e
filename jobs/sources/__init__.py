"""The sites that documents come from: the table of them, and the steps by which those that may answer are sought."""
