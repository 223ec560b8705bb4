"""Commands that other packages add to `regard`: the entry point group "regard.commands".

An entry point names a module with `PURPOSE` (a line for `regard --help`), `add_arguments(parser)` and `run(arguments)`; the
modules in `commands/` have the latter two as well.
"""

from __future__ import annotations

from importlib.util import find_spec

GROUP = "regard.commands"
# These come in the same wheel. They are also found by name, because a checkout may run with only PYTHONPATH set, or with
# metadata that an older editable install left behind. Finding a package does not import it.
SHIPPED = {"reproduce": "regard_lab.command", "towers": "regard_lab.towers_command"}


def extra_commands() -> dict[str, str]:
    """Command -> module."""
    from importlib.metadata import entry_points  # slow to import compared with a prediction

    shipped = {name: module for name, module in SHIPPED.items() if find_spec(module.partition(".")[0]) is not None}
    return shipped | {point.name: point.module for point in entry_points(group=GROUP)}
