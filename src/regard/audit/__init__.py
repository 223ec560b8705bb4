"""Does attention explain the answers of this model on these texts? Combines explainers, measures and training."""
