"""`python -m regard`: the command line, for environments whose scripts are not on the path."""

from __future__ import annotations

import sys

from regard.cli import main

sys.exit(main())
