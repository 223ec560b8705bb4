"""Training: the loop, its measures, and what a killed run resumes from."""
