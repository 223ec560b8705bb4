"""A search for good options (`regard tune`), with Optuna."""
