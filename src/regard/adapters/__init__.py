"""Models that were trained with other libraries, as functions from texts to probabilities: one adapter per library."""
