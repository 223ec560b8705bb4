"""The commands, one a file: its arguments, and `run`, which calls and prints; no logic."""
