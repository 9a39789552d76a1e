"""Question-answer pairs by rule: English, Chinese, dialogues, registers."""
