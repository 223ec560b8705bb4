"""Golden outputs: what regard writes, kept so that a refactoring can be shown to change nothing.

    python tools/goldens.py make OUT                    # with the regard of this checkout
    python tools/goldens.py make OUT --source DIR/src   # with the regard of another one
    python tools/goldens.py compare BASE OUT            # byte for byte; exit code 1 if anything differs
    python tools/goldens.py compare BASE OUT --numbers  # pages by their numbers and embedded JSON only

`make` relies on the command line alone, because modules move and commands stay. It writes:

    tables/, evidence.md   every table of experiments/ and docs/evidence.md, from the result files of commit BASE
    runs/NAME/             the folder of one small run per kind of model, with its report, audit and analysis
    outputs/NAME/          the output of the commands and of the JSON API for that run
    demo/                  what `regard demo` writes
    toy/                   the small tables of golden_tables/, which are run as well as rendered: one per kind of table
    help/                  `regard --help`, the help of each command, and the output of `regard datasets`

Weights are stored as one hash per tensor. Floating-point results depend on the processor and on the versions of the
libraries, so compare only goldens from one machine and one environment.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from golden_api import ask_everything, free_port
from golden_differences import compare
from golden_reviews import write_reviews

BASE = "3f75458"  # a fixed commit, so that new result rows change nothing
TOOLS = Path(__file__).resolve().parent
RENDERED = (".md", ".tex", ".html", ".svg")
COMMANDS = (
    *("train", "predict", "evaluate", "explain", "analyse", "audit", "report"),
    *("serve", "demo", "datasets", "reproduce"),
)
DATASETS = ("imdb", "sst2", "semeval_twitter", "glove100")  # some of those that `regard datasets NAME` describes

SMALL = "--embedding 12 --hidden 16 --query 12 --epochs 5 --lr 0.02 --batch-size 16"
RUNS = {  # name -> options of `regard train`
    "fast": "--label label --record epoch",
    "fast_regression": "--label rating --task regression",
    "flat": f"--label label --encoder bilstm --pooling attention --record step {SMALL}",
    "flat_stars": f"--label stars --task multiclass --engine torch --attention dot --scale 3 --vtw 0.01 {SMALL}",
    "flat_apln": f"--label stars --task multiclass --encoder cnn --pooling apln --norm feature {SMALL}",
    "flat_regression": f"--label rating --task regression --encoder bilstm --pooling attention {SMALL}",
    "han_apln": f"--label label --levels 2 --encoder bilstm --pooling apln {SMALL}",
    "bottleneck": f"--label label --encoder lstm --pooling bottleneck --rounds 2 {SMALL}",
}
ANALYSED = ("fast", "flat", "flat_stars")  # flat attention, and classes
RETRAINED = ("flat",)  # audited with the diagnostics that train models again

# What differs between two runs of the same code or between two environments, and its replacement
VARYING = (
    (r'("[a-z_]*seconds": ?)[\d.e+-]+', r"\g<1>1.0"),  # times are kept in JSON only, and shown only in tables
    (r'\b(python|numpy|torch|numba|scikit-learn|regard)("?:? "?)\d+\.[\w.+]+', r"\1\2VERSION"),
    (r'("version": ")\d+\.\d+\.\d+"', r'\1VERSION"'),  # of the description of the API
)

DRIVER = """
import contextlib, json, sys
import regard
from regard.cli import main

source, steps = json.load(sys.stdin)
if not regard.__file__.startswith(source):
    sys.exit(f"expected the regard of {source}, got {regard.__file__}")
for out, argv in steps:
    with open(out, "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        try:
            code = main(argv)
        except SystemExit as end:  # after --help
            code = end.code
    if code:
        sys.exit(f"`regard {' '.join(argv)}` ended with exit code {code}")
"""

Step = tuple[str, str]  # the file that standard output goes to, and a command


def make(out: Path, source: Path, results: Path | None) -> None:
    """Write the goldens of the regard below `source` into the new folder `out`."""
    if out.exists():
        raise SystemExit(f"{out}: expected a folder that does not exist yet")
    with tempfile.TemporaryDirectory() as scratch:
        home = Home(Path(scratch), source)
        render_tables(home, results)
        write_help(home)
        write_reviews(home.folder / "data" / "reviews")
        with ThreadPoolExecutor(2) as pool:
            parts = [pool.submit(run_toy_tables, home), pool.submit(run_demo, home)]
            parts += [pool.submit(run_model, home, name) for name in RUNS]
            for part in parts:
                part.result()
        for path in sorted(home.golden.rglob("*")):
            if path.is_file():
                name = path.relative_to(home.golden)
                keep(path, out / name, varies=name.parts[0] in ("runs", "outputs", "demo"))


class Home:
    """A working folder, used with relative paths only, and a Python that imports the regard under test."""

    def __init__(self, folder: Path, source: Path):
        self.folder = folder
        self.golden = folder / "golden"
        self.source = source.resolve()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("REGARD_", "PYTHON"))}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        fixed = {"COLUMNS": "120", "LC_ALL": "C.UTF-8", "TZ": "UTC", "CUDA_VISIBLE_DEVICES": ""}
        self.environment = kept | threads | fixed | {"PYTHONPATH": str(self.source), "REGARD_DATA": "data"}

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.environment | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def python(self, *words: str, stdin: str = "", **environment: str) -> None:
        process = self.start(*words, **environment)
        _, messages = process.communicate(stdin)
        if process.returncode:
            raise SystemExit(messages)

    def regard(self, steps: list[Step], **environment: str) -> None:
        """Run commands in one process, which saves imports."""
        for out, _ in steps:
            (self.folder / out).parent.mkdir(parents=True, exist_ok=True)
        split = [(out, command.split()) for out, command in steps]
        self.python("-c", DRIVER, stdin=json.dumps([str(self.source), split]), **environment)


def render_tables(home: Home, results: Path | None) -> None:
    """Render every table and the Evidence page from fixed results."""
    experiments = home.folder / "experiments"
    if results is None:
        archive = subprocess.check_output(["git", "archive", BASE, "experiments"], cwd=TOOLS.parent)
        subprocess.run(["tar", "x"], cwd=home.folder, input=archive, check=True)
    else:
        shutil.copytree(results / "experiments", experiments)
    for path in experiments.glob("*/*"):
        if path.suffix in RENDERED:
            path.unlink()  # so that a table that is not rendered is reported as missing
    steps = [
        ("written.txt", f"reproduce {path.parent.name}/{path.stem} --render --out experiments/{path.parent.name}")
        for path in sorted(experiments.glob("*/*.toml"))
    ]
    home.regard([("golden/tables/list.txt", "reproduce --list"), *steps], REGARD_EXPERIMENTS="experiments")
    for path in experiments.glob("*/*"):
        if path.suffix in RENDERED:
            to = home.golden / "tables" / path.relative_to(experiments)
            to.parent.mkdir(exist_ok=True)
            shutil.copy(path, to)
    shutil.copy(home.source.parent / "experiments" / "evidence.py", experiments)
    (home.folder / "docs").mkdir()
    home.python("experiments/evidence.py")
    shutil.copy(home.folder / "docs" / "evidence.md", home.golden)


def write_help(home: Home) -> None:
    steps = [("golden/help/regard.txt", "--help")]
    steps += [(f"golden/help/{name}.txt", f"{name} --help") for name in COMMANDS]
    steps += [(f"golden/help/datasets_{name}.txt", f"datasets {name}") for name in DATASETS]
    home.regard([*steps, ("golden/help/datasets_list.txt", "datasets")])


def run_demo(home: Home) -> None:
    home.regard([("golden/demo/demo.txt", "demo --out golden/demo")])


def run_toy_tables(home: Home) -> None:
    """Run the tables of golden_tables/, and render them from rows without what varies."""
    shutil.copytree(TOOLS / "golden_tables", home.folder / "golden_tables" / "toy")
    names = sorted(path.stem for path in (TOOLS / "golden_tables").glob("*.toml"))
    for out, options in (("rows", "--jobs 0 --device cpu"), ("golden/toy", "--render")):
        steps = [("written.txt", f"reproduce toy/{name} {options} --out {out}") for name in names]
        home.regard(steps, REGARD_EXPERIMENTS="golden_tables")
        for path in (home.folder / "rows").glob("*.jsonl"):
            keep(path, home.golden / "toy" / path.name)


def run_model(home: Home, name: str) -> None:
    """Train a model and run every command on it."""
    run, out, test = f"golden/runs/{name}", f"golden/outputs/{name}", "data/reviews/test.csv"
    label = RUNS[name].split()[1]
    files = f"data/reviews/train.csv --dev data/reviews/dev.csv --test {test}"
    audit = f"audit {run} --data {test} --text text --label {label} --limit 36 --figures {run}/audit/figures"
    audit += f" --rationales rationales --rationales-in tokens{' --retrain' if name in RETRAINED else ''}"
    explain = f"explain {run} --file {test} --text text"
    steps = [
        (f"{out}/train.txt", f"train {files} --text text {RUNS[name]} --seed 7 --out {run}"),
        (f"{out}/predict.csv", f"predict {run} {test} --text text --format csv"),
        (f"{out}/predict.jsonl", f"predict {run} {test} --text text --format jsonl --keep label stars"),
        (f"{out}/evaluate.txt", f"evaluate {run} {test} --text text --label {label}"),
        (f"{out}/evaluate.json", f"evaluate {run} {test} --text text --label {label} --json"),
        (f"{out}/explain.txt", f"{explain} --limit 5"),
        (f"{out}/explain.jsonl", f"{explain} --format jsonl"),
        (f"{out}/explain.csv", f"{explain} --limit 5 --format csv"),
        (f"{out}/explain.html", f"{explain} --limit 5 --format html"),
        (f"{out}/explain.svg", f"{explain} --limit 1 --format svg"),
        *([(f"{out}/analyse.txt", f"analyse {run}")] if name in ANALYSED else []),
        *([] if "regression" in name else [(f"{out}/audit.txt", audit)]),
        (f"{out}/report.txt", f"report {run} --figures {run}/figures"),
    ]
    home.regard(steps)
    ask_server(home, run, home.folder / out / "api")


def ask_server(home: Home, run: str, out: Path) -> None:
    port = free_port()
    server = home.start("-c", f"from regard.cli import main; main(['serve', {run!r}, '--port', '{port}'])")
    try:
        answers = ask_everything(f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.communicate()
    out.mkdir(parents=True)
    for name, answer in answers.items():
        (out / f"{name}.json").write_text(json.dumps(answer, indent=1, ensure_ascii=False), encoding="utf-8")


def keep(path: Path, to: Path, varies: bool = True) -> None:
    """Copy a file, tensors as hashes, and replace what varies between runs."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".safetensors":
        to.with_name(f"{to.name}.json").write_text(json.dumps(tensor_hashes(path), indent=1), encoding="utf-8")
    elif path.suffix == ".pdf" or not varies:
        shutil.copy(path, to)
    else:
        text = path.read_text(encoding="utf-8")
        for pattern, replacement in VARYING:
            text = re.sub(pattern, replacement, text)
        to.write_text(text, encoding="utf-8")


def tensor_hashes(path: Path) -> dict[str, Any]:
    """The header of a safetensors file, and the hash of each tensor's bytes."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8:start])
    for name, about in header.items():
        if name == "__metadata__":
            header[name] = {key: json.loads(value) for key, value in about.items()}
        else:
            first, last = about["data_offsets"]
            about["sha256"] = hashlib.sha256(content[start + first : start + last]).hexdigest()
    return header


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make_parser = commands.add_parser("make", help="write the goldens of a source tree")
    make_parser.add_argument("out", type=Path, metavar="OUT", help="a new folder")
    make_parser.add_argument(
        "--source", type=Path, default=TOOLS.parent / "src", metavar="DIR", help="the folder of regard"
    )
    make_parser.add_argument(
        "--results", type=Path, metavar="DIR", help=f"contains experiments/ (default: commit {BASE})"
    )
    compare_parser = commands.add_parser("compare", help="list what differs between two folders of goldens")
    compare_parser.add_argument("a", type=Path, metavar="A")
    compare_parser.add_argument("b", type=Path, metavar="B")
    compare_parser.add_argument(
        "--numbers", action="store_true", help="of pages, compare only numbers and embedded JSON"
    )
    arguments = parser.parse_args()
    if arguments.command == "compare":
        return compare(arguments.a, arguments.b, arguments.numbers)
    make(arguments.out, arguments.source, arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
