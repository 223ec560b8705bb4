"""What `--save` does: figures kept under a name in a file of results, beside those that are there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def keep(path: Path, name: str, figures: dict[str, Any]) -> None:
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    told = json.dumps({**kept, name: figures}, indent=1, ensure_ascii=False)
    path.write_text(told + "\n", encoding="utf-8")
