"""The specification of a figure: name, title, convention, columns, and why it may be undefined.

The lists: of people who agree in `core.agreement.figures`, of models and of judges in `core.scoring.figures`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from annotation.core.figures.measure import FloatArray, Interval, Measure, divide
from annotation.core.i18n import Translatable
from annotation.core.kinds import Feature

Sums = Callable[[FloatArray], FloatArray]
EVERY: Final = slice(None)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: how its columns of counts, `reads`, make its values and its n, and its words.

    `make` and `count` take sums of these columns alone, (…, reads), `values` and `n` sums of all columns; all
    give (…). `reason`: why it is undefined although n is not 0; `empty`: why, when n is 0. `headline`: shown
    first, the others beside it. `pooled`: made of the sum over pairs of annotators, not the mean of each
    pair's. `of_outcomes`: outcomes have it too. `percent`: a share, shown in percent. `needs`: only kinds of
    projects with this feature have it.
    """

    name: str
    title: Translatable
    convention: Translatable
    make: Sums
    count: Sums
    reason: str = ""
    empty: str = ""
    reads: slice = field(default_factory=lambda: EVERY)
    headline: bool = False
    pooled: bool = False
    of_outcomes: bool = False
    percent: bool = False
    needs: Feature | None = None

    def values(self, sums: FloatArray) -> FloatArray:
        """The figure of sums (…, columns): (…), NaN where it is undefined."""
        return self.make(sums[..., self.reads])

    def n(self, sums: FloatArray) -> FloatArray:
        """The figure's n of sums (…, columns): (…)."""
        return self.count(sums[..., self.reads])

    def measure(self, value: float, n: float, interval: Interval | None = None) -> Measure:
        """The figure's value (NaN: undefined) and n in words; without a value, there is no interval."""
        if n == 0 or value != value:
            return Measure(None, int(n), self.empty if n == 0 else self.reason)
        return Measure(float(value), int(n), interval=interval)


def by_name(*figures: Figure) -> dict[str, Figure]:
    """A list of figures, in the order in which pages and documents give them."""
    return {figure.name: figure for figure in figures}


def share(
    columns: Sequence[str],
    name: str,
    title: Translatable,
    convention: Translatable,
    *,
    of: str,
    n: str,
    empty: Translatable,
) -> Figure:
    """A figure that is one of the named columns of counts divided by another."""
    numerator, denominator = columns.index(of), columns.index(n)
    return Figure(
        name,
        title,
        convention,
        make=lambda sums: divide(sums[..., numerator], sums[..., denominator]),
        count=lambda sums: sums[..., denominator],
        empty=empty,
        percent=True,
    )
