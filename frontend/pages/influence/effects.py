"""An experiment on people and tasks as the influence page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.language import translated
from annotation.reports.influence.experiment_report import (
    ArmFate,
    ExperimentReport,
    PairFigures,
    TestedContrast,
)
from frontend.pages.shared.figure_cells import ARM_NAMES, measure_cell
from frontend.templatetags.tristep import figure

FATES = {
    "dealt": gettext_lazy("People on tasks"),
    "claimed": gettext_lazy("Trajectories they claimed"),
    "counted": gettext_lazy("of which counted"),
    "waiting": gettext_lazy("of which waiting for labels"),
    "lost": gettext_lazy("of which lost: returned, expired or withdrawn"),
    "labels": gettext_lazy("Labels counted"),
    "before": gettext_lazy("given with suggestions on screen"),
    "after": gettext_lazy("suggestions on screen only afterwards"),
}
PARTS = frozenset({"counted", "waiting", "lost", "before", "after"})


def shown(trial: ExperimentReport) -> dict[str, Any]:
    """The context of the section."""
    primary, *others = trial.tested
    cells = [_effect(other) for other in others]
    reasons = [cell["reason"] for cell in [_effect(primary), *cells] if cell["reason"]]
    return {
        "look": {
            "number": trial.look.number,
            "settled": trial.look.settled,
            "planned": trial.look.planned,
            "spent": points(trial.look.spent, 2),
            "level": "" if trial.look.level is None else figure(trial.look.level, 4),
        },
        "primary": _effect(primary),
        "others": cells,
        "reasons": list(dict.fromkeys(reasons)),
        "arms": [ARM_NAMES[arm] for arm in trial.arms],
        "fates": _fates(trial.fates),
        "pairs": [_pair(pair) for pair in trial.pairs],
    }


def points(share: float, places: int = 1) -> str:
    """A share in hundredths, as it is written without a sign."""
    return figure(100 * share, places)


def _signed(share: float) -> str:
    return ("+" if share > 0 else "") + points(share)


def _effect(contrast: TestedContrast) -> dict[str, Any]:
    fit, raw = contrast.effect.measured, contrast.effect.fit
    half = None if fit is None or contrast.level is None else fit.half_width(contrast.level)
    mde = None if fit is None else fit.detectable()
    p = None if fit is None else fit.p()
    return {
        "arms": _arms(contrast.effect.arms),
        "base": _arms(contrast.effect.base),
        "who": _who(contrast),
        "value": "–" if raw is None else _signed(raw.value),
        "low": "" if raw is None or half is None else _signed(raw.value - half),
        "high": "" if raw is None or half is None else _signed(raw.value + half),
        "mde": "–" if mde is None else points(mde),
        "p": "–" if p is None else f"< {figure(0.001, 3)}" if p < 0.001 else figure(p, 3),
        "labels": contrast.effect.labels,
        "tasks": contrast.effect.tasks,
        "found": contrast.found,
        "reason": translated(contrast.reason),
    }


def _arms(arms: Sequence[str]) -> str:
    names = [str(ARM_NAMES[arm]) for arm in arms]
    return names[0] if len(names) == 1 else _("%(one)s with %(other)s") % {"one": names[0], "other": names[1]}


def _who(one: TestedContrast) -> str:
    if one.effect.who == "people":
        return _("Annotators with each other")
    return one.judge or _("Annotators with the majority of judges")


def _fates(fates: Sequence[ArmFate]) -> list[dict[str, Any]]:
    """Counts by arm, one row a count; then one for each judge."""
    rows = [
        {"title": title, "part": name in PARTS, "counts": [getattr(fate, name) for fate in fates]}
        for name, title in FATES.items()
    ]
    judges = fates[0].judges if fates else {}
    return rows + [
        {
            "title": _("%(judge)s on screen") % {"judge": name},
            "part": True,
            "counts": [fate.judges[name] for fate in fates],
        }
        for name in judges
    ]


def _pair(pair: PairFigures) -> dict[str, Any]:
    return {
        "arms": _arms(pair.arms),
        "tasks": pair.tasks,
        "pairs": pair.pairs,
        "cells": [
            measure_cell(pair.agreement.measure, is_share=True),
            measure_cell(pair.kappa.measure, is_share=False),
        ],
    }
