"""Explanations: which words and sentences a model's answer comes from."""
