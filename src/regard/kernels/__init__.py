"""Arithmetic that is worth fusing, each behind one plain function."""
