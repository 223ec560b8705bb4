"""Text for people and spreadsheets: the terminal, tables, CSV, JSONL and LaTeX."""
