"""How far annotators agree (docs/design.md, "Statistics"). Pure functions on integer arrays; values are −1, 0
and +1 throughout.

`summary.summarise` is what reports call; the other modules hold one measure each. Two conventions hold
everywhere: an undefined figure is a `Measure` without a value and with a reason in words, and a 3×3 table has
the first annotator in its rows and the second in its columns, both in the order −1, 0, +1.
"""

from annotation.core.agreement.measure import Interval, Measure
from annotation.core.agreement.pairs import LabelTable, Pairs, at_least, pair_up
from annotation.core.agreement.summary import Summary, summarise

__all__ = ["Interval", "LabelTable", "Measure", "Pairs", "Summary", "at_least", "pair_up", "summarise"]
