"""Explaining: which words and sentences a model's answer was made of."""
