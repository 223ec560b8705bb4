"""A paper's tables again: committed grids of models × corpora × settings, run, kept as data, and rendered beside the paper."""
