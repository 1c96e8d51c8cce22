"""Regular expressions over the bytes of JSON, for readers that never hold a whole file.

Possessive inside, so that hostile text costs no backtracking. `TO_STRUCTURE` is not possessive outside: in
Python 3.11.2 a possessive group that fails in the middle of its last turn does not go back to where that turn
began.
"""

from __future__ import annotations

import re
from typing import Final

STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""A whole string."""

IN_STRING: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
"""From within a string to its end, or to that of the chunk."""

TO_STRUCTURE: Final = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*', re.DOTALL)
"""Up to the next bracket, whole strings passed over in one go, or to a string that the chunk does not end."""
