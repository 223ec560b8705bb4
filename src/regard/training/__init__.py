"""Training: the loop, its measures, and what a killed run goes on from."""
