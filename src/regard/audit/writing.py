"""What `regard audit` leaves: audit.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.files import check_place, write

NAME = "audit.json"


def write_audit(found: Mapping[str, Any], folder: Path) -> Path:
    check_place(folder)
    write(folder / NAME, as_json(found) + "\n")
    return folder / NAME


def as_json(found: Mapping[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False)
