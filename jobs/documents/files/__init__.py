"""Documents of PDF and DOCX files: text in reading order, tables, what the file states of itself."""
