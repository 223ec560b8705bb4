"""Measure how the source is structured: sizes, long files and functions, imports, cycles, untyped mappings.

    python tools/structure.py [--source src] [--json | --list FIGURE]

prints one column per package under the source folder and one for all of them together. Everything is read from the
text of the files; nothing is imported. The figures:

files, lines      Python files, and the line feeds in them (what `wc -l` counts).
long_files        Files of more than 300 lines outside folders called `kernels`.
long_functions    Functions and methods of more than 50 lines outside `kernels`, from `def` to the last line, docstring
                  included and decorators not. A nested function counts both by itself and as part of the outer one.
many_parameters   Functions and methods with more than 7 parameters outside `kernels`. A leading `self` or `cls` is not
                  counted; `*args` and `**kwargs` count one each. Generated `__init__` methods are not in the text.
reach_explain,    Modules that `regard.commands.explain` (`train`, `audit`) can load: the command's module, all that it
reach_train,      imports, what those import, and so on. The packages that contain them, which Python loads first, are
reach_audit       included together with their imports, unless `__init__.py` is an empty file. Absent without the command.
cycles            Groups of two or more modules that all import each other, directly or through others: strongly
                  connected components. Only what an import names counts, not that Python loads its package first.
any_maps          Occurrences of `Mapping[str, Any]` and `dict[str, Any]` in the text (`MutableMapping` included).
single_importers  Modules that exactly one other module imports, where that one is in the same folder. A package's
                  `__init__.py` is in the folder of its modules.

Imports count wherever they are, in functions too, except under `if TYPE_CHECKING:`. `from a.b import c` imports the
module `a.b.c` if there is one and `a.b` otherwise. Imports by a name in a string (`import_module`, entry points) are
not seen. A cycle across packages counts in the column of each, and once in the total.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FILE_LINES = 300
FUNCTION_LINES = 50
PARAMETERS = 7
COMMANDS = ("explain", "train", "audit")
ANY_MAP = re.compile(r"(Mapping|dict)\[str, Any\]")
LABELS = {
    "files": "files",
    "lines": "lines",
    "long_files": f"files over {FILE_LINES} lines, outside kernels",
    "long_functions": f"functions over {FUNCTION_LINES} lines, outside kernels",
    "many_parameters": f"functions with more than {PARAMETERS} parameters, outside kernels",
    **{f"reach_{command}": f"modules reachable from {command}" for command in COMMANDS},
    "cycles": "import cycles",
    "any_maps": "Mapping[str, Any] and dict[str, Any]",
    "single_importers": "modules with a single importer, in their folder",
}
LISTED = [name for name in LABELS if name not in ("files", "lines")]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    in_function: bool


@dataclass(frozen=True)
class Module:
    name: str  # dotted; a package has the name of its folder
    path: Path  # relative to the source folder
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.path.parts[0]

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def in_kernels(self) -> bool:
        return "kernels" in self.path.parent.parts


@dataclass(frozen=True)
class Offender:
    """One thing that a figure counts."""

    packages: frozenset[str]
    text: str


@dataclass(frozen=True)
class Source:
    modules: dict[str, Module]
    imports: dict[str, list[Import]]  # per importing module

    def reached(self, start: str, with_packages: bool = False) -> set[str]:
        """The module `start` and all that it imports, also through others."""
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += [imported.module for imported in self.imports[name]]
                waiting += self.packages_of(name) if with_packages else []
        return seen

    def packages_of(self, name: str) -> list[str]:
        """The packages that contain a module, without those whose `__init__.py` is empty or missing."""
        parts = name.split(".")
        packages = [".".join(parts[:length]) for length in range(1, len(parts))]
        return [package for package in packages if package in self.modules and self.modules[package].text]

    def importers(self) -> dict[str, set[str]]:
        importers: dict[str, set[str]] = {name: set() for name in self.modules}
        for importer, imports in self.imports.items():
            for imported in imports:
                importers[imported.module].add(importer)
        return importers


def read_source(folder: Path) -> Source:
    """Read every package, that is, every folder with an `__init__.py`, under `folder`."""
    paths = [path for init in sorted(folder.glob("*/__init__.py")) for path in sorted(init.parent.rglob("*.py"))]
    modules = {}
    for path in paths:
        relative = path.relative_to(folder)
        text = path.read_text(encoding="utf-8")
        parts = relative.parent.parts if path.name == "__init__.py" else relative.with_suffix("").parts
        modules[".".join(parts)] = Module(".".join(parts), relative, text, ast.parse(text, str(path)))
    return Source(modules, {name: list(find_imports(module, modules)) for name, module in modules.items()})


def find_imports(module: Module, modules: Mapping[str, Module]) -> Iterator[Import]:
    """The imports of one module that lead to other modules under the source folder."""
    for node, in_function in import_statements(module.tree):
        for alias in node.names:
            target = alias.name
            if isinstance(node, ast.ImportFrom):
                origin = absolute_origin(node, module)
                target = f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in modules else origin
            if target in modules and target != module.name:
                yield Import(target, alias.lineno, in_function)


def import_statements(node: ast.AST, in_function: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """All import statements below a node except those under `if TYPE_CHECKING:`, and whether they are inside a function."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, in_function
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        children = iter(node.orelse)
    for child in children:
        yield from import_statements(child, in_function or isinstance(node, Function))


def absolute_origin(node: ast.ImportFrom, module: Module) -> str:
    """The module between `from` and `import`, with the leading dots of a relative import resolved."""
    folder = module.path.parent.parts
    parts = folder[: len(folder) - node.level + 1] if node.level else ()
    return ".".join([*parts, *([node.module] if node.module else [])])


def offender(module: Module, text: str, line: int | None = None) -> Offender:
    place = f"{module.path.as_posix()}:{line}" if line else module.path.as_posix()
    return Offender(frozenset([module.package]), f"{place}: {text}")


def find_long_files(modules: Iterable[Module]) -> Iterator[Offender]:
    for module in modules:
        if module.lines > FILE_LINES and not module.in_kernels:
            yield offender(module, f"{module.lines} lines")


def find_functions(modules: Iterable[Module], size: Callable[[Function], int], limit: int) -> Iterator[Offender]:
    """Functions outside `kernels` whose size, in lines or parameters, is over the limit."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, Function) and not module.in_kernels and size(node) > limit:
                yield offender(module, f"{node.name}: {size(node)}", node.lineno)


def count_lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def count_parameters(node: Function) -> int:
    positional = node.args.posonlyargs + node.args.args
    bound = bool(positional) and positional[0].arg in ("self", "cls")
    starred = [argument for argument in (node.args.vararg, node.args.kwarg) if argument]
    return len(positional) - bound + len(node.args.kwonlyargs) + len(starred)


def find_any_maps(modules: Iterable[Module]) -> Iterator[Offender]:
    for module in modules:
        for number, line in enumerate(module.text.split("\n"), 1):
            for _ in ANY_MAP.finditer(line):
                yield offender(module, line.strip(), number)


def find_reachable(source: Source, command: str) -> Iterator[Offender]:
    for name in sorted(source.reached(command, with_packages=True)):
        yield Offender(frozenset([source.modules[name].package]), name)


def find_cycles(source: Source) -> Iterator[Offender]:
    reached = {name: source.reached(name) for name in source.modules}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in reached}
    for group in sorted((group for group in groups if len(group) > 1), key=sorted):
        rows = [f"{len(group)} modules: {', '.join(sorted(group))}"]
        for module in (source.modules[name] for name in sorted(group)):
            for imported in source.imports[module.name]:
                if imported.module in group:
                    where = "in a function" if imported.in_function else "at module level"
                    rows.append(f"    {module.path.as_posix()}:{imported.line} imports {imported.module} {where}")
        packages = frozenset(source.modules[name].package for name in group)
        yield Offender(packages, "\n".join(dict.fromkeys(rows)))  # one row for several names from one module


def find_single_importers(source: Source) -> Iterator[Offender]:
    for name, importers in source.importers().items():
        if len(importers) == 1:
            module, importer = source.modules[name], source.modules[min(importers)]
            if module.path.parent == importer.path.parent:
                yield offender(module, f"imported only by {importer.path.as_posix()}")


def find_offenders(source: Source) -> dict[str, list[Offender]]:
    modules = list(source.modules.values())
    commands = {name: f"regard.commands.{name}" for name in COMMANDS if f"regard.commands.{name}" in source.modules}
    return {
        "long_files": list(find_long_files(modules)),
        "long_functions": list(find_functions(modules, count_lines, FUNCTION_LINES)),
        "many_parameters": list(find_functions(modules, count_parameters, PARAMETERS)),
        **{f"reach_{name}": list(find_reachable(source, command)) for name, command in commands.items()},
        "cycles": list(find_cycles(source)),
        "any_maps": list(find_any_maps(modules)),
        "single_importers": list(find_single_importers(source)),
    }


def count(source: Source, offenders: Mapping[str, list[Offender]]) -> dict[str, dict[str, int]]:
    """Per figure: its number per package and in total."""
    figures: dict[str, dict[str, int]] = {name: {} for name in ("files", "lines", *offenders)}
    modules = source.modules.values()
    for column in [*sorted({module.package for module in modules}), "total"]:
        lines = [module.lines for module in modules if column in (module.package, "total")]
        figures["files"][column] = len(lines)
        figures["lines"][column] = sum(lines)
        for name, entries in offenders.items():
            figures[name][column] = sum(column in entry.packages or column == "total" for entry in entries)
    return figures


def table(figures: Mapping[str, Mapping[str, int]]) -> str:
    columns = list(figures["files"])
    width = max(map(len, LABELS.values()))
    rows = [" " * width + "".join(f"{column:>12}" for column in columns)]
    for name, numbers in figures.items():
        rows.append(f"{LABELS[name]:<{width}}" + "".join(f"{numbers[column]:>12,}" for column in columns))
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how the source is structured.")
    parser.add_argument("--source", type=Path, default=Path("src"), help="folder with the packages (default: src)")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the figures and all that they count as JSON")
    output.add_argument("--list", choices=LISTED, metavar="FIGURE", help=f"print what it counts: {', '.join(LISTED)}")
    arguments = parser.parse_args()
    source = read_source(arguments.source)
    if not source.modules:
        parser.error(f"--source {arguments.source}: expected a folder with packages, got one without")
    offenders = find_offenders(source)
    texts = {name: [entry.text for entry in entries] for name, entries in offenders.items()}
    if arguments.json:
        print(json.dumps({"figures": count(source, offenders), "offenders": texts}, indent=2))
    elif arguments.list:
        print("\n".join(texts.get(arguments.list, [])))
    else:
        print(table(count(source, offenders)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
