"""Run a target with Atheris, guided by the coverage of regard: `make fuzz`.

    python tests/fuzz/coverage_guided.py TARGET FOLDER [options of libFuzzer, such as -max_total_time=600]

FOLDER collects inputs that reach new code; an input that fails is written to the working directory. Copy it into
corpus/TARGET when it is fixed, so that `make test` runs it ever after.
"""

from __future__ import annotations

import pkgutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))
import targets


def main() -> None:
    name, folder, *options = sys.argv[1:]
    import_kernels()
    with atheris.instrument_imports(include=["regard", targets.TARGETS[name]]):
        targets.run(name, b"")
    Path(folder).mkdir(parents=True, exist_ok=True)
    atheris.Setup([sys.argv[0], *options, folder, str(targets.CORPUS / name)], lambda data: targets.run(name, data))
    atheris.Fuzz()


def import_kernels() -> None:
    """Before anything is instrumented: numba cannot compile functions with probes in them."""
    import regard.kernels

    for module in pkgutil.iter_modules(regard.kernels.__path__):
        with suppress(ImportError):  # those that need PyTorch
            import_module(f"regard.kernels.{module.name}")


if __name__ == "__main__":
    main()
