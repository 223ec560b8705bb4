"""JavaScript modules as one script: a page that is opened from a disk cannot load modules.

Each module becomes a function that returns what it exports. Only the forms that regard's scripts use are understood:
`import { a, b } from "./name.js";` on one line, and `export` in front of a function, a class or a const.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files

IMPORT = re.compile(r'^import \{ (?P<names>[\w$, ]+) \} from "\./(?P<module>\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?P<kind>(?:async )?function|class|const) (?P<name>[\w$]+)", re.MULTILINE)


def bundle(modules: Iterable[tuple[str, str]]) -> str:
    """`modules`: package and name of each script, a script after those it imports."""
    parts = ['"use strict";']
    known: set[str] = set()
    for package, name in modules:
        source = (files(package) / f"{name}.js").read_text(encoding="utf-8")
        missing = {match["module"] for match in IMPORT.finditer(source)} - known
        assert not missing, f"{name}.js imports {missing}, which must come before it"
        exported = [match["name"] for match in EXPORT.finditer(source)]
        body = EXPORT.sub(r"\g<kind> \g<name>", IMPORT.sub(r"const { \g<names> } = \g<module>Module;", source))
        assert not re.search(r"^(?:import|export)\b", body, re.MULTILINE), (
            f"{name}.js has another form of import or export"
        )
        parts.append(f"const {name}Module = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();")
        known.add(name)
    return "\n".join(parts)
