"""What a question asks for, read from its words: a date, a person, a number of something, yes or no, and so on."""
