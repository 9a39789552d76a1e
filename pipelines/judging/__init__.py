"""Judging answers: files of answers in, figures with their intervals and with people's agreement out."""
