"""Reproduction of the papers: run their tables again, render them, and test the papers' claims."""
