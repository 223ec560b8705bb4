"""Saving of measured figures (`--save`), and a description of the machine they were measured on."""

from __future__ import annotations

import compileall
import json
import os
import platform
import resource
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"


def save_figures(path: Path, figures: dict[str, Any]) -> None:
    """Add the figures to a file; figures under other names stay."""
    saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**saved, **figures}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def machine(*packages: str) -> dict[str, str]:
    return {"cpu": f"{processor()}, {len(os.sched_getaffinity(0))} cores", **versions(*packages)}


def compile_source() -> None:
    """Compile the modules to bytecode, as pip does when it installs a package, so that no timed process has to."""
    compileall.compile_dir(SOURCE, quiet=2)


def cpu_of_children() -> float:
    """CPU seconds of the processes that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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


def source_commit(whole: bool = False) -> str | None:
    """The last commit that changed the package, abbreviated or `whole`; None outside a checkout."""
    command = [
        "git",
        "-C",
        str(Path(__file__).parent),
        "log",
        "-1",
        f"--format={'%H' if whole else '%h'}",
        "--",
        "../src/regard",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or None
