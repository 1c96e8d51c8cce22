"""Outside servers: whatever Tristep calls over HTTP goes through here, and nothing else opens a connection.

Which addresses and keys may be used is the operator's to say (`OperatorRules`); a name that leads into a
private network is refused, redirects are not followed, an answer has bounds in bytes and time, and keys are
taken out of all that is kept or said. The caller makes a `server.OutsideServer`, which loads httpx and is
therefore imported where it is used. Judges (`annotation.providers`) build on it; another user of it takes
rules of its own, with a prefix of its own for keys.
"""

from .credentials import KeyScheme
from .failures import Failed, FailureKind, OutsideError
from .operator_rules import OperatorRules

__all__ = ["Failed", "FailureKind", "KeyScheme", "OperatorRules", "OutsideError"]
