"""Models that were trained elsewhere: `wrap` for any function that returns probabilities, and adapters for libraries."""
