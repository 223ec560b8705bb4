"""Trained models for other places: an ONNX graph with its tokenizer and labels, or one offline page."""
