"""The options of a run: one table of fields, which the command line, TOML files and the Python classes all follow.

`fields` declares them, each with its help text, its bounds and the TOML table it is written in; `checks` refuses options that
contradict each other; `config` holds those of one run; `files` reads and writes TOML.
"""

from __future__ import annotations

from regard.config.config import Config
from regard.config.continued import continued
from regard.config.declaring import AUTO, BEST_F1
from regard.config.fields import Data, Model, Training, level_names
from regard.config.files import config_toml, converted, options_in, read_config
from regard.config.option_table import options

__all__ = [
    "AUTO",
    "BEST_F1",
    "Config",
    "Data",
    "Model",
    "Training",
    "config_toml",
    "continued",
    "converted",
    "level_names",
    "options",
    "options_in",
    "read_config",
]
