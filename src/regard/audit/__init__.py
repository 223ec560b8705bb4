"""Does attention explain the predictions of this model on these texts? Combines explainers, measures and training."""
