"""What a cell of a table does: one file for each kind."""
