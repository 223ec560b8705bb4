"""Pack every published result into one file with checksums, for a release: `make archive`.

The archive contains all of `experiments/` (claims, rules, protocol, tables, rows, verdicts, and tables rendered as Markdown,
HTML, TeX and SVG), the pages and figures that `make evidence` writes, the notebooks, the errata and how to cite, and SHA256SUMS
of all of them. The same contents give the same bytes. `--verify FILE` checks an archive, and whether this checkout has the same
files.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = (
    "experiments/**/*.*",
    "docs/evidence.md",
    "docs/norms.md",
    "docs/attention_debate.md",
    "docs/bottleneck.md",
    "docs/errata.md",
    "docs/cite.md",
    "docs/images/norms-*.svg",
    "docs/notebooks/*.py",
    "docs/notebooks/*.ipynb",
    "docs/notebooks/*.md",
    "CITATION.cff",
    "LICENSE",
)
LEFT_OUT = (".lock", ".pyc")
SUMS = "SHA256SUMS"


def contents(root: Path) -> dict[str, bytes]:
    """Without locks and caches, which may lie next to the results."""
    paths = {
        path
        for pattern in PATTERNS
        for path in root.glob(pattern)
        if path.is_file() and path.suffix not in LEFT_OUT and not path.name.startswith(".")
    }
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(paths)}


def checksums(files: Mapping[str, bytes]) -> str:
    """As `sha256sum` writes them."""
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())


def pack(files: Mapping[str, bytes], prefix: str) -> bytes:
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in {**files, SUMS: checksums(files).encode()}.items():
            entry = tarfile.TarInfo(f"{prefix}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """The files of an archive by their path in the repository."""
    with tarfile.open(path, "r:gz") as archive:
        members = [member for member in archive if member.isfile()]
        files = {member.name.partition("/")[2]: archive.extractfile(member) for member in members}
        return {name: file.read() for name, file in files.items() if file is not None}


def verify(path: Path, root: Path) -> list[str]:
    """What is wrong with an archive, or differs from the checkout."""
    files = unpack(path)
    stated = files.pop(SUMS, b"").decode()
    problems = [] if stated == checksums(files) else [f"{path.name}: {SUMS} does not match its files"]
    here = contents(root)
    problems += [f"{name}: not in this checkout" for name in files.keys() - here.keys()]
    problems += [f"{name}: not in the archive" for name in here.keys() - files.keys()]
    problems += [f"{name}: differs" for name in files.keys() & here.keys() if files[name] != here[name]]
    return sorted(problems)


def version(root: Path) -> str:
    lines = (root / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("version:"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Pack every published result into one file with checksums.")
    parser.add_argument("--out", type=Path, default=Path("dist"), metavar="DIR", help="folder of the archive")
    parser.add_argument("--verify", type=Path, metavar="FILE", help="check an archive instead of writing one")
    arguments = parser.parse_args()
    if arguments.verify is not None:
        problems = verify(arguments.verify, ROOT)
        print("\n".join(problems) if problems else f"{arguments.verify}: complete, and the same as this checkout")
        sys.exit(1 if problems else 0)
    files, name = contents(ROOT), f"regard-results-{version(ROOT)}"
    packed = pack(files, name)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{name}.tar.gz"
    path.write_bytes(packed)
    digest = hashlib.sha256(packed).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    print(f"{path}: {len(files)} files, {len(packed) / 2**20:.1f} MB, sha256 {digest}")


if __name__ == "__main__":
    main()
