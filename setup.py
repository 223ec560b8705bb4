"""Everything is in pyproject.toml, except that a wheel also gets the papers' tables: TOML files from outside `src`."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTables(build_py):
    """Copies experiments/**/*.toml to regard_lab/experiments. Results stay out: they are large. A checkout has both."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        root = Path(__file__).parent
        for table in sorted((root / "experiments").rglob("*.toml")):
            target = Path(self.build_lib, "regard_lab", table.relative_to(root))
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(table, target)


setup(cmdclass={"build_py": BuildWithTables})
