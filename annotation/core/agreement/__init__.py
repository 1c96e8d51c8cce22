"""Agreement of annotators (docs/agreement.md). Pure functions on integer arrays; values are −1, 0 and +1.

Labels become counts per (trajectory, pair of annotators) (`counts`: `count_steps`, `count_outcomes`), which
`counted_rows` keeps; `summary.summarise` makes all figures of counts, each of which `figures.FIGURES`
describes. The other modules hold one measure each. Two conventions hold everywhere: an undefined figure is a
`Measure` without a value and with a reason in words, and a 3×3 table of two annotators has the first in its
rows and the second in its columns, both in the order −1, 0, +1.
"""

from annotation.core.agreement.counts import Counts, count_outcomes, count_steps
from annotation.core.agreement.pairs import LabelTable, Pairs, at_least, pair_up
from annotation.core.agreement.summary import Summary, summarise
from annotation.core.figures.measure import Interval, Measure

__all__ = [
    "Counts",
    "Interval",
    "LabelTable",
    "Measure",
    "Pairs",
    "Summary",
    "at_least",
    "count_outcomes",
    "count_steps",
    "pair_up",
    "summarise",
]
