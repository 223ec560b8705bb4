"""The fast engine does not import PyTorch, which takes longer than training on a small corpus."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from command import write_csv

SCRIPT = """
import json, sys
from regard.cli import main
for argv in json.loads(sys.argv[1]):
    code = main(argv)
    print(argv[0], code, "torch" in sys.modules, file=sys.stderr)
"""


def test_training_and_prediction_do_not_import_torch(tmp_path: Path) -> None:
    rows = [(f"a {word} film number {row}", label) for word, label in (("good", 1), ("bad", 0)) for row in range(12)]
    films, folder = str(write_csv(tmp_path / "films.csv", rows)), str(tmp_path / "run")
    commands = [
        ["train", films, "--dev", films, "--test", films, "--out", folder],
        ["predict", folder, "a good film"],
        ["explain", folder, "a good film", "--format", "jsonl"],
        ["evaluate", folder, films],
    ]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(commands)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    ends = [line for line in done.stderr.splitlines() if line.endswith(("True", "False"))]
    assert ends == ["train 0 False", "predict 0 False", "explain 0 False", "evaluate 0 False"]
    assert '"prediction": "1"' in done.stdout
