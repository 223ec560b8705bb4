"""Write requirements/hashes/NAME.txt: the pins of requirements/NAME.txt with the SHA-256 of every file that pip may install.

    python tools/hashes.py [--check] [NAME …]

pip refuses a file that has another hash (`pip install --require-hashes -r requirements/hashes/base.txt`). Hashes come from the
package index that PIP_INDEX_URL names, by default pip's own; with --check nothing is fetched, only pins are compared.
torch has none: its CPU and CUDA builds of one version are different files, from different indexes. See CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pip._internal.models.index import PyPI

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "requirements"
WITHOUT = ("torch",)
INDEX = (os.environ.get("PIP_INDEX_URL") or PyPI.simple_url).rstrip("/")
LINK = re.compile(r'<a[^>]*href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"')
FOREIGN = (
    re.compile(  # other implementations, older versions, free-threaded builds, and systems that nobody has asked for
        r"-pp\d|-cp2|-cp3(?:[0-9]|10)-(?!abi3)|-cp31\d-cp31\dt-"
        r"|musllinux|i686|armv7l|ppc64|s390x|riscv|loongarch|win32|wasm|-ios_|-android_"
    )
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=sorted(path.stem for path in FOLDER.glob("*.txt")))
    parser.add_argument("--check", action="store_true", help="only compare the pins")
    arguments = parser.parse_args()
    wrong = [name for name in arguments.names if pins(FOLDER / f"{name}.txt") != pins(locked(name))]
    if arguments.check:
        sys.exit(f"requirements/hashes: {', '.join(wrong)} differ; run python tools/hashes.py" if wrong else 0)
    for name in arguments.names:
        write(name)


def locked(name: str) -> Path:
    return FOLDER / "hashes" / f"{name}.txt"


def pins(path: Path) -> dict[str, str]:
    """Versions by name, without those that have no hashes and those of other files (`-r`)."""
    if not path.exists():
        return {}
    found = re.findall(r"(?m)^([A-Za-z0-9_.-]+)==([^\s;#\\]+)", path.read_text(encoding="utf-8"))
    return {name: version for name, version in found if name not in WITHOUT}


def write(name: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        each = list(threads.map(lambda pin: requirement(*pin), pins(FOLDER / f"{name}.txt").items()))
    head = f"# Written by tools/hashes.py from requirements/{name}.txt; do not edit.\n"
    locked(name).parent.mkdir(exist_ok=True)
    locked(name).write_text(head + "".join(each), encoding="utf-8")
    print(f"{locked(name).relative_to(ROOT)}: {len(each)} packages")


def requirement(name: str, version: str) -> str:
    request = urllib.request.Request(f"{INDEX}/{normal(name)}/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        page = answer.read().decode()
    files = {file: digest for file, digest in LINK.findall(page) if is_of(file, name, version)}
    hashes = sorted({digest for file, digest in files.items() if not FOREIGN.search(file)})
    if not hashes:
        raise LookupError(f"{name}=={version}: the index has no file of this version")
    return f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{digest}" for digest in hashes) + "\n"


def is_of(file: str, name: str, version: str) -> bool:
    """Whether the file is a wheel or a source distribution of this version."""
    prefix = re.match(r"(.+?)-(\d[^-]*?)(?:-.*\.whl|\.tar\.gz|\.zip)$", file)
    return prefix is not None and normal(prefix[1]) == normal(name) and prefix[2] == version


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
