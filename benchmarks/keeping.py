"""What `--save` does: figures kept in a file of results, beside those that are there; and what they were measured on."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any


def keep(path: Path, figures: dict[str, Any]) -> None:
    """Each name replaces its own figures; those of other names stay."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**kept, **figures}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def machine(*packages: str) -> dict[str, str]:
    return {"cpu": f"{processor()}, {len(os.sched_getaffinity(0))} cores", **versions(*packages)}


def gpu_machine() -> dict[str, Any]:
    import torch
    import triton

    return {
        "gpu": torch.cuda.get_device_name(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions(*packages: str) -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
