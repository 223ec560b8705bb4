"""The card of an export: that of the run, with its audit, and how to use the files next to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.models.run_files import CARD
from regard.models.saving import AUDIT_END, AUDIT_START, card
from regard.models.trained import Trained


def export_card(trained: Trained, run: Path, manifest: Mapping[str, Any]) -> str:
    return with_audit(card(trained, usage(manifest)), run)


def usage(manifest: Mapping[str, Any]) -> list[str]:
    graph, verified, versions = manifest["graph"], manifest["verified"], manifest["versions"]
    needs = "NumPy" if manifest["tables"] else "NumPy and onnxruntime"
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    ties = (
        f" ({verified['ties']} rows left out, whose largest states are equal up to rounding)"
        if verified["ties"]
        else ""
    )
    differences = f"{verified['logits']:.1e} in the logits and {verified['weights']:.1e} in the weights" + ties
    return [
        f"This folder answers with {needs} alone; PyTorch is not needed:",
        "",
        "```python",
        "import regard.runtime",
        "",
        "model = regard.runtime.load(FOLDER)",
        'model.predict(["a text"])',
        'model.explain("a text")',
        "```",
        "",
        f"`model.onnx` (opset {graph['opset']}) takes {' and '.join(graph['inputs'])} and returns "
        f"{', '.join(graph['outputs'])}. It was compared with PyTorch on {verified['texts']} made-up texts of up to "
        f"{verified['longest']} ids: the largest differences are {differences}. Exported by {packages}.",
    ]


def with_audit(text: str, run: Path) -> str:
    """With the audit that the run's card has, if any."""
    try:
        original = (run / CARD).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return text
    section = between(original)
    here = between(text)
    return text if section is None or here is None else text.replace(here, section)


def between(text: str) -> str | None:
    start, end = text.find(AUDIT_START), text.find(AUDIT_END)
    return text[start : end + len(AUDIT_END)] if 0 <= start < end else None
