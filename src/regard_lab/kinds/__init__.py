"""What a cell of a table does: one module per kind."""
