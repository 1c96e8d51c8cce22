"""The influence report as JSON: unrounded numbers, null with a reason where undefined."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from annotation.core.figures.measure import Measure
from annotation.core.influence.arm_figures import ArmDifference

from ..shared.label_changes import ChangeRates
from .experiment_report import ExperimentReport, PairFigures, TestedContrast
from .report import ArmFigures, ComparisonLine, Contrast, Influence


def as_json(report: Influence) -> dict[str, Any]:
    """The report as JSON: unrounded numbers, null with a reason where undefined.

    {"randomised", "unit", "seed", "reason", "arms", "contrasts", "moves", …}; an arm's name is null without
    an experiment, `judge` is null where it is not about a single judge. Where people are dealt to arms,
    `contrasts` is empty, and there are `look`, `effects`, `accounting` and `each_other` instead.
    """
    return {
        "project": report.project.slug,
        "randomised": report.randomised,
        "unit": report.unit,
        "seed": report.seed,
        "policy": None if report.randomised else report.project.suggestion_policy,
        "reason": report.reason,
        "arms": [_arm_json(arm) for arm in report.arms],
        "contrasts": [_contrast_json(contrast) for contrast in report.contrasts],
        **(trial_json(report.trial) if report.trial is not None else {}),
        "moves": [_change_rates_json(rates) for rates in report.change_rates],
        "interval_seed": report.interval_seed,
    }


def trial_json(trial: ExperimentReport) -> dict[str, Any]:
    """The JSON of an experiment whose units are people on tasks."""
    return {
        "look": asdict(trial.look),
        "effects": [_tested_json(one) for one in trial.tested],
        "accounting": [asdict(one) for one in trial.fates],
        "each_other": [_pair_json(one) for one in trial.pairs],
    }


def _tested_json(one: TestedContrast) -> dict[str, Any]:
    effect, fit = one.effect, one.effect.measured
    half = None if fit is None or one.level is None else fit.half_width(one.level)
    value = None if effect.fit is None else effect.fit.value
    return {
        "arms": list(effect.arms),
        "minus": list(effect.base),
        "who": effect.who,
        "judge": one.judge or None,
        "primary": one.primary,
        "labels": effect.labels,
        "tasks": effect.tasks,
        "difference": value,
        "standard_error": None if fit is None else fit.se,
        "degrees_of_freedom": None if fit is None else fit.freedom,
        "minimum_detectable_effect": None if fit is None else fit.detectable(),
        "p": None if fit is None else fit.p(),
        "level": one.level,
        "interval": None if half is None or value is None else {"low": value - half, "high": value + half},
        "found": one.found,
        "reason": one.reason,
    }


def _pair_json(one: PairFigures) -> dict[str, Any]:
    return {
        "arms": list(one.arms),
        "tasks": one.tasks,
        "pairs": one.pairs,
        "percent_agreement": one.agreement.measure.as_json(),
        "kappa": one.kappa.measure.as_json(),
    }


def _arm_json(arm: ArmFigures) -> dict[str, Any]:
    return {
        "arm": arm.arm or None,
        "allocated_tasks": arm.allocated,
        "tasks": arm.tasks,
        "trajectories": arm.trajectories,
        "steps": arm.steps,
        "pairs": arm.pairs,
        "figures": [_line_json(line) for line in arm.lines],
    }


def _line_json(line: ComparisonLine) -> dict[str, Any]:
    return {
        "who": line.who,
        "judge": line.judge or None,
        "values": line.basis,
        "percent_agreement": line.agreement.measure.as_json(),
        "kappa": line.kappa.measure.as_json(),
    }


def _contrast_json(contrast: Contrast) -> dict[str, Any]:
    return {
        "arm": contrast.arm,
        "minus": "sealed",
        "who": contrast.who,
        "judge": contrast.judge or None,
        "percent_agreement": _difference_json(contrast.agreement),
        "kappa": _difference_json(contrast.kappa),
    }


def _difference_json(found: ArmDifference) -> dict[str, Any]:
    return {
        **found.measure.as_json(),
        "standard_error": found.se,
        "minimum_detectable_effect": found.mde,
        "minimum_detectable_effect_reason": found.mde_reason,
    }


def _change_rates_json(rates: ChangeRates) -> dict[str, Any]:
    shares = {
        field.name: value.as_json()
        for field in fields(rates.changes)
        if isinstance(value := getattr(rates.changes, field.name), Measure)
    }
    return {
        "unit": rates.unit,
        "judge": rates.judge or None,
        "labels": rates.changes.labels,
        **shares,
    }
