"""Values of a sentence that are of the kind that a question asks for."""
