"""Write docs/evidence.md from evidence.toml and the results next to the tables: `make evidence`."""

from __future__ import annotations

from pathlib import Path

from regard_lab.claims.claims import read_claims
from regard_lab.claims.evidence import TableFolder, page

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "evidence.md"


def written() -> str:
    return page(read_claims(FOLDER / "evidence.toml"), TableFolder(FOLDER))


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
