"""The final form of a text: noise, width, numbers, personal data, quality."""
