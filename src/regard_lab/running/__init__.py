"""Run the missing cells of a table and store the results."""
