"""Logs of training runs in TensorBoard, Weights & Biases and MLflow: numbers and settings, never texts or labels."""
