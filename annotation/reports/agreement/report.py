"""Agreement of a project's annotators: figures over blind labels of trajectories whose N labels are all in.

Trajectories that are still being labelled are left out, so that nobody who may yet label one learns of
others' labels through a figure. Who annotated what, and figures of single pairs, are for admins;
adjudicators, who decide between "A" and "B", get figures in which nobody can be made out (docs/sealing.md),
and, when they label too, without what they have submitted themselves until its case is resolved.

Figures are made of paired labels (reports/agreement/paired_labels.py) and never read labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np
from django.db.models import Count
from django.utils.functional import SimpleLazyObject

from annotation import models as m
from annotation.core.agreement.counts import Counts
from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_counts import CountedRows
from annotation.core.agreement.summary import Summary, figure_of, headline_of, summarise
from annotation.core.errors import Invalid
from annotation.core.figures.measure import Measure, figures_json
from annotation.core.i18n import Translatable, translatable
from annotation.core.influence.experiment import ARMS, Arm
from annotation.core.vocabulary import RESOLVED, VALUES, AssignmentState, TrajectoryState
from annotation.models.data import with_trajectories
from annotation.policies import Actor, allowed, deals_people, require

from ..shared import influence_rows
from .after_discussion import revised_labels
from .beside import OtherCounts, OtherFigures, SelectedCounts, after_discussion, untouched
from .cuts import CUTS, FOR_ALL, PAIR, LabelSelection, LabelView, TaskArms, cuts_of, occurring, parse
from .paired_labels import KeptLabels, paired_rows
from .pictures import Pictures, pictures, pictures_json

FEWEST = 5
"""Of how many trajectories a pair's labels count for those who may not know the pair."""


@dataclass(frozen=True, slots=True)
class AgreementPart:
    """The figures of one subset, or of all together (`name` empty).

    `after_discussion`: those of the same labels as their authors hold them after discussion, None where
    nobody changed one. `untouched`: those of pairs of untouched labels alone, None where these are all.
    """

    name: str
    steps: Summary
    outcomes: Summary
    states: dict[str, int]
    after_discussion: OtherFigures | None = None
    untouched: OtherFigures | None = None

    def without_people(self) -> AgreementPart:
        """The same figures without anything of a single person."""
        return replace(
            self,
            steps=self.steps.without_people(),
            outcomes=self.outcomes.without_people(),
            after_discussion=self.after_discussion and self.after_discussion.without_people(),
            untouched=self.untouched and self.untouched.without_people(),
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """The data of the agreement page, the API and `agreement --json`, over the labels that `selection`
    leaves.

    `people` maps annotator ids to names. Without `with_people` it is empty, as are the parts' pairs; and
    trajectories whose pairs of annotators share fewer than `FEWEST` of a subset are left out of every figure.
    """

    project: m.Project
    overall: AgreementPart
    subsets: tuple[AgreementPart, ...]
    view: LabelView
    selection: LabelSelection
    pictures: Pictures
    with_people: bool = True

    @property
    def people(self) -> Mapping[int, str]:
        """The names of annotators by their ids."""
        return self.view.people

    def without_people(self) -> Agreement:
        """The same figures without anything of a single person, or of when they worked."""
        bare = [part.without_people() for part in (self.overall, *self.subsets)]
        return replace(
            self,
            overall=bare[0],
            subsets=tuple(bare[1:]),
            view=replace(self.view, people={}, with_people=False),
            pictures=replace(self.pictures, weeks=(), annotators=()),
            with_people=False,
        )


@dataclass(frozen=True, slots=True)
class _Figures:
    """Figures kept in memory until labels change, without the states of trajectories."""

    steps: dict[str, Summary]
    outcomes: dict[str, Summary]
    after_discussion: dict[str, OtherFigures]
    untouched: dict[str, OtherFigures]
    pictures: Pictures


def view_of(viewer: Actor, project: m.Project) -> tuple[LabelView, KeptLabels]:
    """A project's paired labels as the viewer may see them. Four queries and those of the permission; one
    more when there are new labels, one when there are new changes of mind, one for the arms of an experiment,
    one for adjudicators.
    Raises Denied to whoever may not see agreement."""
    # who may know pairs may see all the rest: most ask once
    with_people = allowed(viewer, "agreement.pairs", project)
    if not with_people:
        require(viewer, "agreement.view", project)
    filled = with_trajectories(m.Subset.objects.filter(project=project))
    subsets = dict(filled.order_by("name").values_list("pk", "name"))
    kept = paired_rows(project)
    changes, newest = revised_labels(project, kept)
    # the subsets too: one without labels is made without any that are new
    state = (with_people, newest, project.experiment_seed, project.experiment_unit, tuple(subsets.items()))
    if not with_people:
        own = _unresolved(viewer, project)
        counted = kept.result(("few", own), lambda: _shared(kept, own))
        parts = kept.result(("parts", own), lambda: occurring(counted.rows, FOR_ALL, None))
        known = (*state, own)
        cuts, kind = cuts_of(project.of_kind, FOR_ALL), project.of_kind
        return (
            LabelView(counted, subsets, {}, cuts, with_people, known, changes, parts, without=own, kind=kind),
            kept,
        )
    # where people are dealt, the two of a pair are in different arms
    by_task = project.experiment_seed is not None and not deals_people(project)
    arms = kept.result(("arms", state), lambda: _arms(project)) if by_task else None
    cuts = cuts_of(project.of_kind, (cut for cut in CUTS if cut != "arm" or arms is not None))
    parts = kept.result(("parts", True, state), lambda: occurring(kept.rows, cuts, arms))
    annotators = {who for pair in parts["pair"] for who in divmod(pair, PAIR)}
    people = {user.pk: str(user) for user in m.User.objects.filter(pk__in=annotators)}
    return (
        LabelView(
            *(kept.counted, subsets, people, cuts, with_people, state, changes, parts, arms),
            kind=project.of_kind,
        ),
        kept,
    )


def _unresolved(viewer: Actor, project: m.Project) -> tuple[int, ...]:
    """Trajectories that a person has labelled here and that are not resolved: a figure that changes with one
    would tell them others' labels."""
    own = m.Assignment.objects.filter(project=project, annotator=viewer.pk, state=AssignmentState.SUBMITTED)
    unresolved = own.exclude(trajectory__state__in=RESOLVED).order_by("trajectory")
    return tuple(unresolved.values_list("trajectory", flat=True))


def _shared(kept: KeptLabels, without: tuple[int, ...]) -> CountedRows:
    """Paired labels in which no pair of annotators shares fewer than `FEWEST` trajectories of a subset."""
    others = kept.counted.where(np.flatnonzero(~np.isin(kept.rows.trajectory, without)))
    return others.where(others.rows.shared_by_at_least(FEWEST))


def _arms(project: m.Project) -> TaskArms:
    arms = sorted(influence_rows.arms(project).items())
    number = [ARMS.index(Arm(name)) for _, name in arms]
    return TaskArms(np.array([task for task, _ in arms], dtype=np.int64), np.array(number, dtype=np.int64))


def agreement(
    *,
    viewer: Actor,
    project: m.Project,
    asked: Mapping[str, str] | None = None,
    by: str = "",
    intervals: bool = True,
    details: bool = True,
) -> Agreement:
    """Every figure of the labels that the filters `asked` for leave, and the pictures of them, cut `by` one
    of `agreement_cuts.CUTS` (the subset, when it says nothing).

    Without `details` there are neither subsets nor single pairs of several, which take most of the time.
    Four queries and those of the permission, more when there are new labels (`view_of`), and one when the
    states of trajectories are looked at. Raises Invalid for
    an unknown filter or cut.
    """
    view, kept = view_of(viewer, project)
    selection = parse(view, asked or {})
    cut = parse_cut(view, by)
    figures = kept.result(
        ("figures", view.state, selection, cut, intervals, details),
        lambda: _figures(view, selection, cut, intervals, details),
    )
    states = cache(partial(_states, project, view.without))

    def part(pk: int | None, name: str) -> AgreementPart:
        steps, outcomes = figures.steps[name], figures.outcomes[name]
        beside = figures.after_discussion.get(name), figures.untouched.get(name)
        return AgreementPart(name, steps, outcomes, _lazy(lambda: _sum_states(states(), pk)), *beside)

    chosen = selection.part("subset")
    names = view.subsets.items() if details else ()
    subsets = [(pk, name) for pk, name in names if chosen is None or name == chosen.key]
    return Agreement(
        project=project,
        overall=part(None if chosen is None else chosen.number, ""),
        subsets=tuple(part(pk, name) for pk, name in subsets),
        view=view,
        selection=selection,
        pictures=figures.pictures,
        with_people=view.with_people,
    )


def headline(*, viewer: Actor, project: m.Project) -> tuple[Translatable, Measure, str]:
    """The figure to go by of all labels of steps: its title, its value with the interval, and its name. As
    many queries as `view_of`."""
    view, kept = view_of(viewer, project)

    def make() -> tuple[Translatable, Measure, str]:
        counts = SelectedCounts.of(view, parse(view, {})).steps
        name = headline_of(len(np.union1d(counts.first, counts.second)))
        return FIGURES[name].title, figure_of(counts, name), name

    return kept.result(("headline", view.state), make)


def kappa(*, viewer: Actor, project: m.Project) -> tuple[Measure, Measure]:
    """Percent agreement and Cohen's κ of all labels of steps. As many queries as `view_of`."""
    view, kept = view_of(viewer, project)

    def make() -> tuple[Measure, Measure]:
        counts = SelectedCounts.of(view, parse(view, {})).steps
        return figure_of(counts, "percent_agreement"), figure_of(counts, "kappa")

    return kept.result(("kappa", view.state), make)


def parse_cut(view: LabelView, by: str) -> str:
    """The cut of that name, the subset when there is none. Raises Invalid for an unknown one."""
    if by and by not in view.cuts:
        raise Invalid(translatable("There is no cut “{name}”.", name=by[:40]), code="unknown_filter")
    return by or "subset"


def _figures(
    view: LabelView, selection: LabelSelection, cut: str, intervals: bool, details: bool
) -> _Figures:
    labels = SelectedCounts.of(view, selection)

    def of(counts: Counts, with_pairs: bool) -> Summary:
        figures = summarise(counts, with_intervals=intervals, with_pairs=with_pairs, kind=view.kind)
        return figures if view.with_people else figures.without_people()

    def summaries(counts: Counts) -> dict[str, Summary]:
        every = of(counts, details)
        if not details:
            return {"": every}
        # All of one subset is that subset: the same labels, the same figures.
        if len(view.subsets) == 1:
            return {"": every, **dict.fromkeys(view.subsets.values(), every)}
        return {"": every} | {
            name: of(counts.where(counts.subset == pk), details) for pk, name in view.subsets.items()
        }

    def beside(other: OtherCounts | None) -> dict[str, OtherFigures]:
        if other is None:
            return {}
        figures = {}
        for pk, name in ((None, ""), *(view.subsets.items() if details else ())):
            steps, outcomes, *changed = other.of_subset(pk)
            figures[name] = OtherFigures(of(steps, False), of(outcomes, False), *map(len, changed))
        return figures

    of_steps, of_outcomes = summaries(labels.steps), summaries(labels.outcomes)
    after = {
        name: one
        for name, one in beside(after_discussion(labels, view.changes)).items()
        if one.changed or one.outcomes_changed
    }
    alone = {
        name: one
        for name, one in ({} if selection.part("exposure") else beside(untouched(labels))).items()
        if (one.steps.n, one.outcomes.n) != (of_steps[name].n, of_outcomes[name].n)
    }
    shown = pictures(view, labels, cut, of_steps[""].headline)
    return _Figures(of_steps, of_outcomes, after, alone, shown)


def _states(project: m.Project, without: tuple[int, ...]) -> list[tuple[int, str, int]]:
    return list(
        m.Trajectory.objects.filter(project=project, live=True)
        .exclude(pk__in=without)
        .order_by()
        .values_list("subset", "state")
        .annotate(n=Count("pk"))
    )


def _lazy(make: Callable[[], dict[str, int]]) -> dict[str, int]:
    """The value of `make`, made when it is looked at: the states of a hundred thousand trajectories take a
    while, and pages seldom show them."""
    return cast(dict[str, int], SimpleLazyObject(make))


def _sum_states(rows: list[tuple[int, str, int]], subset: int | None) -> dict[str, int]:
    counts = {state.value: 0 for state in TrajectoryState}
    for pk, state, n in rows:
        if subset is None or pk == subset:
            counts[state] += n
    return counts


def as_json(report: Agreement) -> dict[str, Any]:
    """The report as JSON: unrounded numbers, null with a reason where undefined. `confusion` has the first
    annotator of the only pair in its rows; of several pairs, or none that may be named, it is `symmetric`:
    each pair of labels is counted in both orders. `after_discussion` and `untouched` are null where they
    would say the same as the other figures."""
    return {
        "project": report.project.slug,
        "filters": dict(report.selection.asked),
        "fewest_trajectories": 1 if report.with_people else FEWEST,
        "overall": _part_json(report.overall, report.people),
        "subsets": {part.name: _part_json(part, report.people) for part in report.subsets},
        "values": list(VALUES),
        **pictures_json(report.pictures, report.people),
    }


def _part_json(part: AgreementPart, people: Mapping[int, str]) -> dict[str, Any]:
    steps = part.steps
    offsets = steps.offsets
    return {
        "n": steps.n,
        "trajectories": steps.n_trajectories,
        "tasks": steps.n_tasks,
        "annotators": steps.n_annotators,
        "headline": steps.headline,
        "states": dict(part.states),
        "figures": figures_json(steps.figures),
        "symmetric": len(steps.pairs) != 1,
        "confusion": steps.table.tolist(),
        "first_errors": asdict(offsets) if offsets is not None else None,
        "outcome": {
            "n": part.outcomes.n,
            "figures": figures_json(part.outcomes.figures),
            "confusion": part.outcomes.table.tolist(),
        },
        "after_discussion": _after_json(part.after_discussion),
        "untouched": _beside_json(part.untouched),
        "pairs": [
            {
                "annotators": [people.get(pair.first, "?"), people.get(pair.second, "?")],
                "n": pair.n,
                "figures": figures_json(pair.figures),
                "confusion": pair.confusion.tolist(),
            }
            for pair in steps.pairs
        ],
    }


def _beside_json(other: OtherFigures | None) -> dict[str, Any] | None:
    if other is None:
        return None
    return {
        "n": other.steps.n,
        "figures": figures_json(other.steps.figures),
        "outcome": {"n": other.outcomes.n, "figures": figures_json(other.outcomes.figures)},
    }


def _after_json(other: OtherFigures | None) -> dict[str, Any] | None:
    beside = _beside_json(other)
    if other is None or beside is None:
        return None
    beside["outcome"]["changed"] = other.outcomes_changed
    return {**beside, "changed": other.changed}
