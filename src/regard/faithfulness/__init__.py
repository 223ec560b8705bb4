"""Measures of faithfulness: whether the words that an explanation points at are the words that matter."""
