"""Write the software bill of materials of the base install: CycloneDX 1.6, as JSON.

    python tools/sbom.py FILE [NAME …]        # of requirements/NAME.txt; by default base

Every pinned package with its version, package URL, licence and the hashes of requirements/hashes, and which of them regard itself
depends on. The same input gives the same file: there is no date, and the serial number is made from the content.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
import uuid
from pathlib import Path
from typing import Any

from check_licences import licence_of
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
ENTRY = re.compile(r"(?m)^([A-Za-z0-9_.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", default=["base"])
    arguments = parser.parse_args()
    document = bill(arguments.names)
    arguments.file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{arguments.file}: {len(document['components'])} components")


def bill(names: list[str]) -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [(ROOT / "requirements" / "hashes" / f"{name}.txt").read_text(encoding="utf-8") for name in names]
    components = [component(*entry) for text in texts for entry in ENTRY.findall(text)]
    own = component(project["name"], project["version"], "", kind="application")
    direct = {normal(Requirement(line).name) for line in project["dependencies"]}
    content: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
        "dependencies": [
            {
                "ref": own["bom-ref"],
                "dependsOn": [one["bom-ref"] for one in components if normal(one["name"]) in direct],
            }
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}", **content}


def component(name: str, version: str, hashes: str, kind: str = "library") -> dict[str, Any]:
    address = f"pkg:pypi/{normal(name)}@{version}"
    described: dict[str, Any] = {"type": kind, "bom-ref": address, "name": name, "version": version, "purl": address}
    if licence := licence_of(name):
        described["licenses"] = [{"expression": licence}]
    if digests := re.findall(r"sha256:([0-9a-f]{64})", hashes):  # of every file of this version
        described["hashes"] = [digest(value) for value in digests]
    return described


def digest(value: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": value}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
