"""Running what is missing of a table, and keeping the results."""
