"""The certificate of labels: how large a share of the steps can be wrong, from audits of drawn trajectories.

A draw of trajectory i with chance q_i, of whose steps x_i are wrong, counts w_i = x_i / (ΣL q_i), with ΣL all
steps. Its mean over draws is the share of wrong steps, without bias (Hansen and Hurwitz 1943). No draw counts
more than `heaviest`, so z = w / heaviest lies between 0 and 1, and the bounds are those of the mean of such a
variable:

- valid at any time (`anytime_bound`): who bets at every draw against a mean of m has, if it is m, more than
  1/α times the stake at any time with a chance of at most α (Ville 1939). The mean is no larger than the
  least m against which a fixed mixture of bets has won that much after some draw (I. Waudby-Smith and
  A. Ramdas, "Estimating means of bounded random variables by betting", 2024; P. B. Stark, "ALPHA: Audit that
  learns from previously hand-audited ballots", 2023). Nothing is approximate in it.
- of a number of draws fixed before (`fixed_bound`): Clopper and Pearson's (1934) bound at an effective number
  of draws (E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
  positive counts estimated from survey data", 1998).

An audit that has not come back counts as wholly wrong in both, so that no choice of who sends one back, and
none of when to look, can make a bound too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import scipy

from annotation.core.figures.measure import FloatArray, IntArray, Measure
from annotation.core.i18n import translatable

CONFIDENCE: Final = 0.95
MOST_EFFECTIVE: Final = 3.0
"""An effective number of draws is at most so many times the number of draws."""
BETS: Final[FloatArray] = np.array([1.0, 0.75, 0.5, 0.25])
"""The shares of the capital that are bet at each draw, as far as nothing can be owed."""
STAKES: Final[FloatArray] = np.array([0.8, 0.1, 0.05, 0.05])
"""The share of the first capital for each bet: most is on there being no difference at all."""
HALVINGS: Final = 30
ROUNDING: Final = 1e-9
NOTHING: Final = translatable("no audit has come back yet")


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw, in the order of drawing: its trajectory with its stratum, its chance, its steps, and how many
    of these the audit found wrong (None: it has not come back)."""

    trajectory: int
    stratum: str
    chance: float
    steps: int
    wrong: int | None


@dataclass(frozen=True, slots=True)
class DrawCounts:
    """The number of draws, and of those from which the audit has come back."""

    drawn: int
    back: int

    @property
    def missing(self) -> int:
        """Draws that have not come back."""
        return self.drawn - self.back

    def as_json(self) -> dict[str, int]:
        """{"drawn", "back", "missing"}."""
        return {**asdict(self), "missing": self.missing}


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of the audits of a draw, for the labels it was drawn from; shares are of all steps.

    `error`: the share of wrong steps, estimated from the draws that came back (its n). `anytime` and `fixed`:
    its 95 % one-sided bounds, 1.0 without draws. `bound`: the one that is certified, for the labels as they
    were drawn; `after`: the same once what the audit found is corrected. `strata`: the draws by stratum.
    """

    error: Measure
    anytime: float
    fixed: float
    bound: float
    after: float
    counts: DrawCounts
    strata: dict[str, DrawCounts]

    def proves(self, most: float) -> bool:
        """Whether it is certified that no more than this share of the steps is wrong after correction."""
        return self.after <= most

    def as_json(self) -> dict[str, Any]:
        """All of it, by name."""
        return {
            "error": self.error.as_json(),
            "bound": self.bound,
            "bound_after_correction": self.after,
            "anytime_bound": self.anytime,
            "fixed_sample_bound": self.fixed,
            **self.counts.as_json(),
            "strata": {name: counts.as_json() for name, counts in self.strata.items()},
        }


def certificate(
    draws: Sequence[Draw],
    *,
    steps: int,
    corrected: int,
    audited_steps: int,
    heaviest: float = 1.0,
) -> Certificate:
    """The certificate of `steps` labels, from draws in their order.

    `corrected`: how many steps the audit found wrong and corrected; `audited_steps`: the steps of the
    trajectories in which everything found is corrected; both count a trajectory once, however often it was
    drawn. `heaviest` is that of `core.audits.drawing`, 1 of draws by steps alone. Raises ValueError where a
    draw could count for more, because then no bound holds.
    """
    counted = np.array([_weight(one, steps) for one in draws], dtype=np.float64)
    if any(one.steps > heaviest * steps * one.chance * (1 + ROUNDING) for one in draws):
        raise ValueError("a chance is too small for how the draws are said to be made")
    back = np.array([one.wrong is not None for one in draws], dtype=bool)
    z = np.minimum(counted / heaviest, 1.0)
    anytime = min(1.0, heaviest * anytime_bound(z, 1 - CONFIDENCE))
    fixed = min(1.0, heaviest * fixed_bound(z, 1 - CONFIDENCE))
    returned = int(back.sum())
    error = Measure(float(counted[back].mean()), returned) if returned else Measure(None, 0, NOTHING)
    return Certificate(
        error=error,
        anytime=anytime,
        fixed=fixed,
        bound=anytime,
        after=_after_correction(anytime, steps, corrected, audited_steps),
        counts=DrawCounts(len(draws), returned),
        strata=_by_stratum(draws),
    )


def _weight(one: Draw, steps: int) -> float:
    """The share of all steps that one draw speaks for as wrong; all of its own before it is back."""
    return (one.steps if one.wrong is None else one.wrong) / (steps * one.chance)


def _after_correction(bound: float, steps: int, corrected: int, audited: int) -> float:
    """What is corrected is wrong no more, and what is audited cannot be wrong: 0 for a census."""
    if not steps:
        return 0.0
    return max(0.0, min(bound - corrected / steps, 1 - audited / steps))


def _by_stratum(draws: Sequence[Draw]) -> dict[str, DrawCounts]:
    strata = sorted({one.stratum for one in draws})
    return {
        name: DrawCounts(
            sum(one.stratum == name for one in draws),
            sum(one.stratum == name and one.wrong is not None for one in draws),
        )
        for name in strata
    }


def anytime_bound(z: FloatArray, alpha: float) -> float:
    """An upper bound of the mean of a variable in [0, 1], from independent draws (n,) in their order.

    With a chance of 1 − `alpha` all bounds hold that are ever stated of a sequence as it grows. A bet c
    against m multiplies its capital by 1 − c (z − m) / (1 − m) at each draw. That rises with m, so that the
    least m that is lost is found by halving; the best of all numbers of draws so far counts, so that more
    draws never make the bound larger.
    """
    if not len(z):
        return 1.0
    values, places = np.unique(z, return_inverse=True)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _most_capital(values, places, middle) >= 1 / alpha:
            high = middle
        else:
            low = middle
    return high


def _most_capital(values: FloatArray, places: IntArray, mean: float) -> float:
    """The most capital there was after any draw, of a first capital of 1; draws are `values[places]`."""
    gains = 1 - BETS[:, None] + BETS[:, None] * np.maximum(1 - values, 0.0) / (1 - mean)
    # a capital of e^700 or more is more than any bound asks for
    with np.errstate(divide="ignore"):
        capital = np.minimum(np.cumsum(np.log(gains)[:, places], axis=1), 700.0)
    return float((STAKES @ np.exp(capital)).max())


def fixed_bound(z: FloatArray, alpha: float) -> float:
    """An upper bound of the mean of a variable in [0, 1], from n independent draws (n,) fixed before.

    The quantile of Beta(m n_e + 1, n_e − m n_e) with n_e = m (1 − m) / v · (z(α) / t(α; df))², where v is the
    variance of the mean m and df = 2 (Σd²)² / Σd⁴ (F. E. Satterthwaite 1946): few draws that differ tell
    little of their own spread. n_e is at most three times n, and the bound never below 1 − α^(1/n), that of
    no difference: small differences found must not prove more than none.
    """
    n = len(z)
    if not n:
        return 1.0
    mean = float(z.mean())
    none = float(1 - alpha ** (1 / n))
    if mean <= 0:
        return none
    if mean >= 1:
        return 1.0
    apart = z - mean
    effective = MOST_EFFECTIVE * n
    squares = float((apart**2).sum())
    if squares > 1e-12:
        freedom = 2 * squares**2 / float((apart**4).sum())
        normal, student = scipy.special.ndtri(1 - alpha), scipy.special.stdtrit(freedom, 1 - alpha)
        variance = squares / (n - 1) / n
        effective = min(effective, mean * (1 - mean) / variance) * float(normal / student) ** 2
    wrong = mean * effective
    return max(none, float(scipy.special.betaincinv(wrong + 1, effective - wrong, 1 - alpha)))
