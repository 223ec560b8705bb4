"""A table to reproduce: its definition, its corpora, and what its runs share."""
