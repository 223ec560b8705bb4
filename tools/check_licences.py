"""Check that every pinned dependency has a licence under which regard may use it: permissive, or weak copyleft for tools.

    python tools/check_licences.py [NAME …]        # of requirements/NAME.txt; by default base, run and dev

Licences are those that the installed packages declare: an SPDX expression, or else classifiers, or else a licence field of one
line. A package without one, with an unknown one, or with one that is not allowed, is an error.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent
PERMISSIVE = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python"),
        *("ISC", "MIT", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    )
)
WEAK_COPYLEFT = frozenset({"MPL-2.0"})  # changes to its own files must be published; regard ships none of them
EXCEPTIONS = frozenset({"LLVM-exception"})
SPELLINGS = {  # of classifiers and licence fields
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "MIT License": "MIT",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=["base", "run", "dev"])
    names = [name for file in parser.parse_args().names for name in pinned(ROOT / "requirements" / f"{file}.txt")]
    problems = [problem for name in dict.fromkeys(names) if (problem := wrong(name, licence_of(name)))]
    if problems:
        sys.exit("\n".join(problems))
    print(f"licences of {len(dict.fromkeys(names))} packages: allowed")


def pinned(path: Path) -> list[str]:
    return re.findall(r"(?m)^([A-Za-z0-9_.-]+)==", path.read_text(encoding="utf-8"))


def licence_of(name: str) -> str | None:
    """The licence as an SPDX expression; None if the package is not installed or declares none."""
    try:
        declared = metadata(name)
    except PackageNotFoundError:
        return None
    if expression := declared.get("License-Expression"):
        return str(expression)
    classifiers = [
        line.rpartition(" :: ")[2] for line in declared.get_all("Classifier", []) if line.startswith("License ::")
    ]
    field = str(declared.get("License") or "")
    named = classifiers or ([field] if field and "\n" not in field else [])
    return " AND ".join(SPELLINGS.get(one, one) for one in named) or None


def wrong(name: str, licence: str | None) -> str | None:
    """What is wrong with a package's licence; of alternatives (OR), one allowed is enough."""
    if licence is None:
        return f"{name}: expected an installed package that declares its licence, got none"
    for option in re.split(r"\bOR\b", licence.replace("(", " ").replace(")", " ")):
        parts = {part.strip() for part in re.split(r"\bAND\b|\bWITH\b|,", option)}
        if parts <= PERMISSIVE | WEAK_COPYLEFT | EXCEPTIONS:
            return None
    return f"{name}: expected a licence of {', '.join(sorted(PERMISSIVE | WEAK_COPYLEFT))}, got {licence}"


if __name__ == "__main__":
    main()
