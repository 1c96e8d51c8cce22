"""The influence report as JSON: unrounded numbers, null with a reason where undefined."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from annotation.core.agreement.influence import Difference
from annotation.core.agreement.measure import Measure

from .agreement import measure_json
from .influence import ArmFigures, Contrast, Influence, Line
from .label_changes import ChangeRates


def as_json(report: Influence) -> dict[str, Any]:
    """{"randomised", "seed", "reason", "arms", "contrasts", "moves", …}; an arm's name is null without an
    experiment, `judge` is null where it is not about a single judge."""
    return {
        "project": report.project.slug,
        "randomised": report.randomised,
        "seed": report.seed,
        "policy": None if report.randomised else report.project.suggestion_policy,
        "reason": report.reason,
        "arms": [_arm(arm) for arm in report.arms],
        "contrasts": [_contrast(contrast) for contrast in report.contrasts],
        "moves": [_change_rates(rates) for rates in report.change_rates],
        "interval_seed": report.interval_seed,
    }


def _arm(arm: ArmFigures) -> dict[str, Any]:
    return {
        "arm": arm.arm or None,
        "allocated_tasks": arm.allocated,
        "tasks": arm.tasks,
        "trajectories": arm.trajectories,
        "steps": arm.steps,
        "pairs": arm.pairs,
        "figures": [_line(line) for line in arm.lines],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "who": line.who,
        "judge": line.judge or None,
        "values": line.basis,
        "percent_agreement": measure_json(line.agreement.measure),
        "kappa": measure_json(line.kappa.measure),
    }


def _contrast(contrast: Contrast) -> dict[str, Any]:
    return {
        "arm": contrast.arm,
        "minus": "sealed",
        "who": contrast.who,
        "judge": contrast.judge or None,
        "percent_agreement": _difference(contrast.agreement),
        "kappa": _difference(contrast.kappa),
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        **measure_json(found.measure),
        "standard_error": found.se,
        "minimum_detectable_effect": found.mde,
        "minimum_detectable_effect_reason": found.mde_reason,
    }


def _change_rates(rates: ChangeRates) -> dict[str, Any]:
    shares = {
        field.name: measure_json(value)
        for field in fields(rates.changes)
        if isinstance(value := getattr(rates.changes, field.name), Measure)
    }
    return {
        "unit": rates.unit,
        "judge": rates.judge or None,
        "labels": rates.changes.labels,
        **shares,
    }
