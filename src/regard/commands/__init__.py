"""One module per command: its arguments, and `run`, which calls the library and prints; no logic."""
