"""Numbers of models that come from elsewhere, and how the figures of a release go together with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core.figures.measure import Measure
from annotation.core.releases.statistics import ModelSuccess
from annotation.core.scoring.benchmark import pearson, spearman
from annotation.models import OutsideNumber, Release


@dataclass(frozen=True, slots=True)
class OutsideNumbers:
    """The numbers of one title, by the names of models."""

    title: str
    numbers: dict[str, float]


@dataclass(frozen=True, slots=True)
class OutsideCorrelation:
    """The correlation of the numbers with one figure, over the models that have both."""

    figure: str
    pearson: Measure
    spearman: Measure

    def as_json(self) -> dict[str, Any]:
        """Both coefficients, with how many models they are of, or why there are none."""
        return {
            "pearson": self.pearson.value,
            "spearman": self.spearman.value,
            "models": self.pearson.n,
            "reason": self.pearson.reason,
        }


def outside_numbers(release: Release) -> tuple[OutsideNumbers, ...]:
    """The numbers of a release by title, in one query. The caller has asked for permission."""
    numbers: dict[str, OutsideNumbers] = {}
    rows = OutsideNumber.objects.filter(release=release).order_by("title", "model")
    for title, model, value in rows.values_list("title", "model", "value"):
        numbers.setdefault(title, OutsideNumbers(title, {})).numbers[model] = value
    return tuple(numbers.values())


def policy_figures(models: Iterable[ModelSuccess]) -> dict[str, dict[str, float]]:
    """The success rate and the share of +1 of the policy models that are named."""
    named = [model for model in models if model.policy_model]
    return {
        "success_rate": {model.policy_model: model.success_rate for model in named},
        "plus_share": {
            model.policy_model: model.plus_share for model in named if model.plus_share is not None
        },
    }


def correlations(
    numbers: Mapping[str, float], figures: Mapping[str, Mapping[str, float]]
) -> list[OutsideCorrelation]:
    """The numbers against each of the figures, which are values by the names of models."""
    correlated = []
    for figure, values in figures.items():
        both = sorted(numbers.keys() & values.keys())
        pairs = [numbers[name] for name in both], [values[name] for name in both]
        correlated.append(OutsideCorrelation(figure, pearson(*pairs), spearman(*pairs)))
    return correlated
