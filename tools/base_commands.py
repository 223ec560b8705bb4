"""Run the commands of a README, and commands that need an extra, in an environment that has the base install only.

    python tools/base_commands.py ENVIRONMENT/bin/python FOLDER

The commands run in the folder, which holds nothing but a table of built-in reviews. Those that need an extra must say so in one
sentence with the exit code 2; everything else must succeed.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

SHELL = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TABLE = """
import csv
from regard.data.reviews import reviews
with open("reviews.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([("text", "stars"), *((review.text, review.label) for review in reviews(1000))])
"""
WORKS = (  # what the base install offers besides the README
    "predict runs/reviews reviews.csv --out answers.csv",
    "evaluate runs/reviews reviews.csv --json",
    "explain runs/reviews --file reviews.csv --limit 5 --out page.html",
    "analyse runs/reviews",
    "export runs/reviews --format page --out offline.html",
    "datasets",
    "reproduce --list",
    "completion bash",
    "train --help-all",
)
NEEDS = {  # command -> the extra that it asks for
    "train reviews.csv --encoder bilstm --out other": "torch",
    "train reviews.csv --encoder bert --pretrained nowhere --out other": "torch",
    "train reviews.csv --device cuda --out other": "torch",
    "explain runs/reviews good --method integrated_gradients": "torch",
    "audit runs/reviews --data reviews.csv": "torch",
    "demo --out other": "torch",
    "reproduce apln/three_tier --out other": "torch",
    "towers train reviews.csv --out other": "torch",
    "predict runs/reviews texts.parquet": "parquet",
    "predict runs/reviews texts.xlsx": "sheets",
    "predict runs/reviews reviews.csv --out answers.xlsx": "sheets",
    "predict runs/reviews reviews.csv --out answers.parquet": "parquet",
    "explain runs/reviews good --out figure.pdf": "pdf",
    "explain runs/reviews good --out figure.png": "pdf",
    "export runs/reviews --format onnx --out other": "onnx",
    "datasets mine --from hub:org/name --out other": "hub",
    "push runs/reviews me/reviews": "share",
    "predict hf://me/reviews texts.csv": "share",
    "train reviews.csv --log tensorboard:logs --out other": "tensorboard",
    "train reviews.csv --log wandb:project --out other": "wandb",
    "train reviews.csv --log mlflow:experiment --out other": "mlflow",
}


class Failed(Exception):
    """A command did not do what it should."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", type=Path, help="the environment's Python")
    parser.add_argument("folder", type=Path, help="an empty folder, or a new one, to work in")
    arguments = parser.parse_args()
    check_commands(arguments.python, Path(__file__).parent.parent / "README.md", arguments.folder)


def check_commands(python: Path, readme: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    regard = [str(python.absolute()), "-m", "regard"]
    run([regard[0], "-c", TABLE], folder)
    commands = [line for block in SHELL.findall(readme.read_text(encoding="utf-8")) for line in block.splitlines()]
    for line in commands:
        words = shlex.split(line, comments=True)
        if words[:2] == ["regard", "serve"]:
            check_server([*regard, *words[1:], "--port", "0"], folder)
        elif words[:1] == ["regard"]:
            run([*regard, *words[1:]], folder)
        else:
            print(f"  not run: {' '.join(words)}")
    for line in WORKS:
        run([*regard, *line.split()], folder)
    (folder / "texts.parquet").write_bytes(b"PAR1")
    (folder / "texts.xlsx").write_bytes(b"PK")
    for line, extra in NEEDS.items():
        check_refusal([*regard, *line.split()], extra, folder)
    print(f"  {len(NEEDS)} commands that need an extra say so")


def environment() -> dict[str, str]:
    """Without what would lead to a checkout or to corpora."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REGARD", "VIRTUAL_ENV"))
    }


def run(command: list[str], folder: Path) -> None:
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0 or "Traceback" in done.stderr:
        raise Failed(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr}")
    if command[1] == "-m":
        print(f"  {time.perf_counter() - start:5.1f} s  regard {shlex.join(command[3:])}")


def check_refusal(command: list[str], extra: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, encoding="utf-8")
    sentences = [line for line in done.stderr.splitlines() if line.startswith("regard: ")]
    expected = f"which is not installed: pip install 'regard[{extra}]'"
    if done.returncode != 2 or len(sentences) != 1 or not sentences[0].endswith(expected):
        raise Failed(
            f"{shlex.join(command)}: expected exit code 2 and one sentence that ends in {expected!r}, "
            f"got {done.returncode} and\n{done.stderr}"
        )
    if (folder / "other").exists():
        raise Failed(f"{shlex.join(command)}: left {folder / 'other'} behind")


def check_server(command: list[str], folder: Path) -> None:
    """Start it, ask it once, stop it."""
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as server:
        try:
            assert server.stdout is not None
            address = re.findall(r"http://\S+", server.stdout.readline())[0]
            server.stdout.readline()  # the model is loaded
            body = b'{"text": "Breakfast was fine, but the room was filthy."}'
            request = urllib.request.Request(
                f"{address.rstrip('/')}/api/explain", data=body, headers={"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                if b'"filthy"' not in answer.read():
                    raise Failed(f"{shlex.join(command)}: the answer does not have the words of the text")
        finally:
            if os.name == "nt":
                server.terminate()
            else:
                server.send_signal(signal.SIGINT)
    if os.name != "nt" and server.returncode not in (0, 130):
        raise Failed(f"{shlex.join(command)}: expected a clean end, got exit code {server.returncode}")
    print(f"  served, asked and stopped: regard {shlex.join(command[3:])}")


if __name__ == "__main__":
    main()
