"""Models: levels of encoder and pooling with a head on top, tasks (what the outputs mean), and trained models as folders."""
