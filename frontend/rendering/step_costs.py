"""The cost of a step, in words: "1,204 in · 230 out · $0.004 · 2.3 s".

It is nobody's label, so that whoever reads the run may read it.
"""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from annotation.core.trajectories.step_costs import StepCost, cost_of, total
from annotation.reports.shared.transcripts import Transcript

SMALLEST_COST = 0.0001


def cost_text(cost: StepCost | None) -> str:
    """The cost of a step by the log; "" when it says nothing."""
    if cost is None:
        return ""
    parts = []
    if cost.input_tokens is not None:
        parts.append(_("%(n)s in") % {"n": _grouped(cost.input_tokens)})
    if cost.output_tokens is not None:
        parts.append(_("%(n)s out") % {"n": _grouped(cost.output_tokens)})
    if cost.cost_usd is not None:
        parts.append(_dollars(cost.cost_usd))
    if cost.seconds is not None:
        parts.append(_("%(n)s s") % {"n": _grouped(cost.seconds, 1 if cost.seconds < 100 else 0)})
    return " · ".join(parts)


def run_cost_text(transcript: Transcript) -> str:
    """The cost of all steps together, as far as the log says."""
    return cost_text(total(cost_of(message.raw) for message in transcript.messages))


def _grouped(value: float, decimals: int = 0) -> str:
    return number_format(round(value, decimals), decimals, use_l10n=True, force_grouping=True)


def _dollars(value: float) -> str:
    if 0 < value < SMALLEST_COST:
        return f"< ${SMALLEST_COST}"
    decimals = 2 if value >= 1 else 4
    text = f"{value:.{decimals}f}"
    return f"${text}" if decimals == 2 else f"${text.rstrip('0').rstrip('.')}"
