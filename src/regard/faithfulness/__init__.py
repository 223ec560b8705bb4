"""Measures of whether the words pointed at are the words that matter."""
