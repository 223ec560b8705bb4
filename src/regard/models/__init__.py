"""Models: levels of encoder and pooling under a head, what a head's answers mean, and a trained model as a folder."""
