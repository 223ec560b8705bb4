"""Explanations: which words and sentences a prediction is based on."""
