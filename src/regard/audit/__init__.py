"""Is attention explanation, for this model on these texts? What needs explainers, measures and training together."""
