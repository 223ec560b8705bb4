"""Doubtful labels: cross-validated margins, near-duplicates, texts unlike the others, and what to label next."""
