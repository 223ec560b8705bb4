"""Packages that regard works without: what needs each of them, and the sentence that says how to install one that is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from regard.errors import InputError

EXTRAS = {  # module -> its name, and the extra of regard that installs it
    "torch": ("PyTorch", "torch"),
    "scipy": ("SciPy", "torch"),
    "sklearn": ("scikit-learn", "sklearn"),
    "transformers": ("transformers", "bert"),
    "tokenizers": ("tokenizers", "vectors"),
    "model2vec": ("model2vec", "distill"),
    "pyarrow": ("pyarrow", "parquet"),
    "python_calamine": ("python-calamine", "sheets"),
    "xlsxwriter": ("XlsxWriter", "sheets"),
    "typst": ("typst", "pdf"),
    "datasets": ("datasets", "hub"),
    "huggingface_hub": ("huggingface_hub", "share"),
    "sentence_transformers": ("sentence-transformers", "sentence-transformers"),
    "onnx": ("onnx", "onnx"),
    "onnxscript": ("onnxscript", "onnx"),
    "tensorboard": ("TensorBoard", "tensorboard"),
    "wandb": ("wandb", "wandb"),
    "mlflow": ("MLflow", "mlflow"),
    "optuna": ("Optuna", "tune"),
    "ray": ("Ray", "ray"),
}


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def import_extra(module: str, purpose: str) -> Any:
    """The module of an optional package, or the error of `require` if it cannot be imported."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(sentence(module.partition(".")[0], purpose)) from None


def require(module: str, purpose: str) -> None:
    """Raise an error that says what needs the package and how to install it, unless it is installed."""
    if not is_installed(module):
        raise InputError(sentence(module, purpose))


def failure(error: BaseException) -> str:
    """What went wrong in another library, for a message. Ctrl-C and the like are raised again.

    An assertion that fails in a library in Rust, such as tokenizers, is a PanicException, which is not an Exception.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def missing_extra(error: ImportError, purpose: str = "this") -> InputError | None:
    """The same for an import that failed; None if it is not of an optional package."""
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS or is_installed(module):
        return None
    return InputError(sentence(module, purpose))


def sentence(module: str, purpose: str) -> str:
    name, _ = EXTRAS.get(module, (module, None))
    return f"{purpose} needs {name}, which is not installed: {install_command(module)}"


def install_command(module: str) -> str:
    """Of its extra; a package that belongs to none is installed by its own name."""
    _, extra = EXTRAS.get(module, (module, None))
    return f"pip install {module}" if extra is None else f"pip install 'regard[{extra}]'"
