"""`python -m tristep` is `tristep`."""

import sys

from .commands import main

sys.exit(main())
