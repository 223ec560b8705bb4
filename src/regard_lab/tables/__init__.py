"""A table to reproduce: its TOML, its corpora, where it is found."""
