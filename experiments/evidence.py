"""Write what follows from the results, for people and as data: `make evidence`.

The page docs/evidence.md; the generated parts of docs/attention_debate.md, docs/bottleneck.md and docs/norms.md, and the figures
of the latter; the paths of p as numbers; and experiments/verdicts.json.
"""

from __future__ import annotations

import json
from pathlib import Path

from regard_lab.claims import (
    bottleneck_blocks,
    coverage,
    debate_blocks,
    formula,
    formula_blocks,
    formula_figures,
    history,
    regression_blocks,
    verdict_list,
)
from regard_lab.claims.blocks import fill
from regard_lab.claims.claims import read_claims
from regard_lab.claims.evidence import page
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdicts import Given

FOLDER = Path(__file__).parent
DOCS = FOLDER.parent / "docs"


def files() -> dict[Path, str]:
    """Path -> contents."""
    claims, folder = read_claims(FOLDER / "evidence.toml"), TableFolder(FOLDER)
    records = verdict_list.make_records(claims, folder)
    covered = coverage.coverage(claims, folder, records)
    states = history.read_history(FOLDER)
    missing = [*coverage.section(covered, claims, coverage.planned_runs(folder)), *history.section(records, states)]
    text = page(claims, folder, records, missing)
    given = Given(folder.table(formula.TABLE), folder.rows(formula.TABLE), folder.book)
    written = {
        DOCS / "evidence.md": f"{text}\n{formula_blocks.section(given)}",
        FOLDER / "verdicts.json": verdict_list.written(
            records, folder.book.version, formula.judge_all(given), coverage.as_data(covered)
        ),
    }
    slopes = json.loads((FOLDER / "apln" / "norm_mechanism.json").read_text(encoding="utf-8"))["slopes"]
    blocks = {
        "attention_debate.md": debate_blocks.blocks(claims, folder),
        "bottleneck.md": bottleneck_blocks.blocks(claims, folder),
        "norms.md": {
            **formula_blocks.blocks(given, slopes, regression_blocks.summary(folder)),
            **regression_blocks.blocks(folder),
        },
    }
    for name, of_page in blocks.items():
        written[DOCS / name] = fill((DOCS / name).read_text(encoding="utf-8"), of_page, name)
    return {
        **written,
        FOLDER / "apln" / "norm_form_paths.md": formula_blocks.path_page(given),
        DOCS / "images" / "norms-paths.svg": formula_figures.paths(given, given.table.options["updates"]),
        DOCS / "images" / "norms-mechanism.svg": formula_figures.mechanism(given, slopes),
    }


if __name__ == "__main__":
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
