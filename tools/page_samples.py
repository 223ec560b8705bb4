"""Write one page of every kind, for a small model and for one of eighty classes: what tools/page_checks.py looks at.

    python tools/page_samples.py FOLDER [--classes 80] [--texts 3000] [--quick]

The corpus of many classes is made of the package's generators: three words of the class (`regard.data.synthetic.classes`)
in a sentence before a review (`regard.data.reviews`) that says nothing about it. Class names have one to nine words.
The small model is that of `regard demo`. Existing runs are kept, pages are always written again; `--quick` skips the
audits, which take longest, if their audit.json exists.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
from pathlib import Path

from regard.cli import main as regard
from regard.data.reviews import reviews
from regard.data.synthetic import classes
from regard.facts.audit import AuditFacts
from regard.report.pages.audit import write_audit

ROOT = Path(__file__).parents[1]
SYLLABLES = [first + vowel for vowel in "aeiou" for first in "bdfgklmnprstvz"]
SUBJECTS = (
    "Cards",
    "Loans",
    "Cheques and other paper payments",
    "Mobile app",
    "Transfers abroad in a currency other than that of the account",
    "Mortgages",
    "Insurance of the household",
    "Branches",
)
CONCERNS = (
    "fees",
    "fraud",
    "payment declined",
    "limit too low",
    "change of address or of name",
    "a statement that was never sent or arrived too late",
    "interest",
    "closing",
    "exchange rate at the time of purchase",
    "praise",
)
AUDITED = 200  # texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--texts", type=int, default=3000)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    many_pages(given.folder / "many", given.classes, given.texts, given.quick)
    few_pages(given.folder / "few", given.quick)
    render_tables(given.folder / "reproduced")


def call(*arguments: object) -> None:
    assert regard([str(one) for one in arguments]) == 0, arguments


def render_tables(folder: Path) -> None:
    """Tables with their results in the repository: a wide one, and one with figures."""
    for table in ("table3", "figure6"):
        folder.mkdir(exist_ok=True)
        shutil.copy(ROOT / "experiments" / "apln" / f"{table}.jsonl", folder)
        call("reproduce", f"apln/{table}", "--render", "--out", folder)


def many_pages(folder: Path, number: int, texts: int, quick: bool) -> None:
    folder.mkdir(exist_ok=True)
    train, test = folder / "train.csv", folder / "test.csv"
    write_corpus(train, number, texts, seed=1)
    write_corpus(test, number, texts, seed=2)
    run = folder / "run"
    if not run.exists():
        call("train", train, "--test", test, "--out", run, "--task", "multiclass")
    pages(folder, run, test, quick)
    call("analyse", run)
    other = folder / "other"
    if not other.exists():
        call("train", train, "--out", other, "--task", "multiclass", "--no-pairs", "--epochs", 2)
    call("compare", run, other, "--data", test, "--out", folder / "comparison.html")


def few_pages(folder: Path, quick: bool) -> None:
    folder.mkdir(exist_ok=True)
    run, test = folder / "demo" / "run", folder / "test.csv"
    rows = [(example.text, str(example.label)) for example in reviews(AUDITED, seed=3)]
    write_rows(test, rows)
    call("demo", "--out", folder / "demo")
    pages(folder, run, test, quick)
    opinions, flat = folder / "opinions.csv", folder / "flat"
    write_rows(opinions, [(text, "bad" if label < "3" else "good") for text, label in rows if label != "3"])
    if not flat.exists():
        call("train", opinions, "--out", flat, "--record", "epoch")
    call("analyse", flat)


def pages(folder: Path, run: Path, test: Path, quick: bool) -> None:
    audit = run / "audit"
    if quick and (audit / "audit.json").exists():
        facts = AuditFacts.from_json(json.loads((audit / "audit.json").read_text(encoding="utf-8")))
        write_audit(facts, audit)
    else:
        call("audit", run, "--data", test, "--limit", AUDITED)
    call("report", run, "--data", test, "--out", folder / "report.html")
    call("explain", run, "--file", test, "--format", "html", "--out", folder / "explanations.html")
    call("doubts", test, "--page", folder / "doubts.html")


def write_corpus(path: Path, number: int, texts: int, seed: int) -> None:
    """One text per row, with its class; about one text in ten has the label of another class."""
    made = classes(number, texts, seed, tokens=11, neutral=400, length=6, evidence=3)
    rows = []
    for place, (example, review) in enumerate(zip(made, reviews(texts, seed), strict=True)):
        words = [word(token) for token in example.text.split()]
        label = (int(example.label or 0) + (place % 10 == 0)) % number
        rows.append((f"About the {' '.join(words)}. {review.text}", class_name(label)))
    write_rows(path, rows)


def write_rows(path: Path, rows: list[tuple[str, str]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


def word(token: str) -> str:
    """A word that can be read, instead of `c17t3` or `o204`."""
    number = int("".join(char for char in token if char.isdigit())) * 7 + (11 if token.startswith("c") else 0)
    number += 1000 * len(token)
    spelled = []
    while number:
        number, place = divmod(number, len(SYLLABLES))
        spelled.append(SYLLABLES[place])
    return "".join(spelled)


def class_name(number: int) -> str:
    return f"{SUBJECTS[number % len(SUBJECTS)]}: {CONCERNS[number // len(SUBJECTS) % len(CONCERNS)]}" + (
        f" ({number // 80 + 1})" if number >= 80 else ""
    )


if __name__ == "__main__":
    main()
