"""Which packages for ONNX exports are not installed."""

from __future__ import annotations

from importlib.util import find_spec

MISSING = [name for name in ("onnx", "onnxscript", "onnxruntime") if find_spec(name) is None]
