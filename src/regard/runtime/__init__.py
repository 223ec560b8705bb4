"""Models without PyTorch and numba: `load(FOLDER)` needs NumPy, and onnxruntime unless the model is flat.

Nothing here may import torch, numba, safetensors, jinja2, rich or scikit-learn; a test runs it without them.
"""

from __future__ import annotations

from regard.runtime.folder import load
from regard.runtime.model import RuntimeModel

__all__ = ["RuntimeModel", "load"]
