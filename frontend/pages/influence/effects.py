"""An experiment on people and tasks as the influence page shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.language import translated
from annotation.reports.influence.experiment_report import (
    ExperimentReport,
    PairFigures,
    TestedContrast,
)
from frontend.pages.shared.figure_cells import ARM_NAMES, figure_column, figure_text
from frontend.rendering.tables import Column, Table, cells
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
    cells_ = [_effect(other) for other in others]
    reasons = [cell["reason"] for cell in [_effect(primary), *cells_] if cell["reason"]]
    return {
        "look": {
            "number": trial.look.number,
            "settled": trial.look.settled,
            "planned": trial.look.planned,
            "spent": points(trial.look.spent, 2),
            "level": "" if trial.look.level is None else figure(trial.look.level, 4),
        },
        "primary": _effect(primary),
        "others": _others(cells_),
        "reasons": list(dict.fromkeys(reasons)),
        "fates": _fates(trial),
        "pairs": _pairs(trial.pairs),
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


def _others(effects: Sequence[dict[str, Any]]) -> Table:
    def difference(effect: dict[str, Any]) -> str:
        return figure_text({**effect, "reason": "", "why": ""})

    def differs(effect: dict[str, Any]) -> str:
        words, reason = {True: _("yes"), False: _("no")}.get(effect["found"], ""), effect["reason"]
        return figure_text({"value": words, "reason": "" if words else reason, "low": "", "why": ""})

    columns = [
        Column("arms", _("Suggestions"), lambda effect: effect["arms"], look="main"),
        Column("base", _("Compared with"), lambda effect: effect["base"]),
        Column("who", _("Agreement"), lambda effect: effect["who"]),
        Column("difference", _("Difference, points"), cell=difference, look="number"),
        Column("mde", _("Minimum detectable effect"), lambda effect: effect["mde"], look="number"),
        Column("tasks", _("Tasks"), lambda effect: effect["tasks"], look="number"),
        Column("found", _("Shown to differ"), cell=differs),
    ]
    return Table(columns, effects, labelledby="contrasts")


def _arms(arms: Sequence[str]) -> str:
    names = [str(ARM_NAMES[arm]) for arm in arms]
    return names[0] if len(names) == 1 else _("%(one)s with %(other)s") % {"one": names[0], "other": names[1]}


def _who(one: TestedContrast) -> str:
    if one.effect.who == "people":
        return _("Annotators with each other")
    return one.judge or _("Annotators with the majority of judges")


def _fates(trial: ExperimentReport) -> Table:
    """Counts by arm, one row a count; then one for each judge."""
    fates = trial.fates
    rows = [
        (cells.soft(title) if name in PARTS else title, [getattr(fate, name) for fate in fates])
        for name, title in FATES.items()
    ]
    rows += [
        (cells.soft(_("%(judge)s on screen") % {"judge": name}), [fate.judges[name] for fate in fates])
        for name in (fates[0].judges if fates else {})
    ]

    def counts(place: int) -> Callable[[tuple[str, list[int]]], int]:
        return lambda row: row[1][place]

    columns = [
        Column("count", _("Count"), cell=lambda row: row[0]),
        *(
            Column(arm, str(ARM_NAMES[arm]), counts(place), look="number")
            for place, arm in enumerate(trial.arms)
        ),
    ]
    return Table(columns, rows, labelledby="accounting")


def _pairs(pairs: Sequence[PairFigures]) -> Table:
    columns = [
        Column("arms", _("Arms of the two annotators"), lambda pair: _arms(pair.arms)),
        Column("tasks", _("Tasks"), look="number"),
        Column("pairs", _("Pairs of labels"), look="number"),
        figure_column("same", _("Same label"), attrgetter("agreement.measure"), is_share=True),
        figure_column("kappa", _("Cohen’s κ"), attrgetter("kappa.measure"), is_share=False),
    ]
    return Table(columns, pairs, labelledby="each-other", title=_("Annotators with each other"))
