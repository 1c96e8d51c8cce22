"""`python -m tristep` is `tristep-client`."""

import sys

from .commands import main

sys.exit(main())
