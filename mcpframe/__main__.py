"""``python -m mcpframe``: the command line."""

import sys

from mcpframe.cli import main

sys.exit(main())
