"""Make options of what judges write: wrong actions for questions that have fewer options than wanted."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.core.decisions.distractors import NOT_WRONG, Distractor, Options, Proposal, sort_out
from annotation.core.decisions.editing import decision_of
from annotation.core.decisions.record import Decision, Option, OptionOrigin
from annotation.core.errors import TristepError
from annotation.core.judging.prompts import DISTRACTORS
from annotation.core.trajectories.messages import message_text
from annotation.core.trajectories.tool_schema import read_tools
from annotation.core.vocabulary import SuggestionItemState
from annotation.models import SuggestionItem, SuggestionRun, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.judging.short_questions import unlabelled

from .. import replace


def add_options(run: SuggestionRun, trajectory: int, proposals: Sequence[Proposal | None]) -> None:
    """Add to a question what of an answer becomes options of it, and count that for the run.

    The question is replaced as whenever its options change, so that nothing of it is added when somebody has
    begun to label it, or it has been replaced, since the judge was asked. Part of the caller's transaction,
    which has locked the run's row.
    """
    rows = unlabelled(Trajectory.objects.filter(pk=trajectory))
    row = rows.select_related("project", "subset", "source", "content").first()
    if row is None:
        _count(run, changed=1)
        return
    decision = decision_of(row.content.raw_bytes(), row.content.labels_of_source())
    if decision is None:
        _count(run, changed=1)
        return
    assert run.options is not None
    wanted = run.options - len(decision.options)
    tools = read_tools(list(decision.tools))
    accepted, refused = sort_out(proposals, _options_of(decision), tools, wanted=wanted)
    if accepted:
        options = [*decision.options, *(_option(run, one) for one in accepted)]
        try:
            with transaction.atomic():
                replace.replace_options(actor=OPERATOR, trajectory=row, options=options)
        except TristepError:
            # somebody has begun just now
            _count(run, changed=1)
            return
    reasons = {reason.value: n for reason, n in refused.items()}
    _count(run, added=len(accepted), short=int(len(accepted) < wanted), refused=reasons)


def drop_unfit(run: SuggestionRun, items: Sequence[SuggestionItem]) -> set[int]:
    """Count as done those of some due items whose questions have been begun or replaced meanwhile: nobody
    pays for them. The pks of these items."""
    pks = [item.trajectory_id for item in items]
    fit = set(unlabelled(Trajectory.objects.filter(pk__in=pks)).values_list("pk", flat=True))
    unfit = {item.pk for item in items if item.trajectory_id not in fit}
    if unfit:
        with transaction.atomic():
            SuggestionRun.objects.select_for_update(no_key=True).get(pk=run.pk)
            due = SuggestionItem.objects.filter(run=run, pk__in=unfit, state=SuggestionItemState.DUE)
            dropped = due.update(state=SuggestionItemState.DONE)
            SuggestionRun.objects.filter(pk=run.pk).update(progress_done=F("progress_done") + dropped)
            _count(run, changed=dropped)
        run.progress_done += dropped
    return unfit


def _options_of(decision: Decision) -> Options:
    spoken = [message_text(message) for message in decision.history if message.get("role") == "user"]
    labelled = decision.about.get(NOT_WRONG, ())
    return Options(
        right=[option.message for option in decision.options if option.key in (0, 1)],
        wrong=[option.message for option in decision.options if option.key not in (0, 1)],
        labelled=[digest for digest in labelled if isinstance(digest, str)] if labelled else (),
        asked="\n".join([decision.question, *spoken]),
    )


def _option(run: SuggestionRun, one: Distractor) -> Option:
    source = {
        "judge": run.judge.name,
        "model": run.judge.model,
        "prompt_version": DISTRACTORS,
        "run": run.pk,
        "kind": one.kind,
    }
    return Option(one.message, -1, OptionOrigin.JUDGE, source)


def _count(run: SuggestionRun, *, refused: dict[str, int] | None = None, **more: int) -> None:
    """Count for the run, whose row the caller's transaction has locked."""
    stored: dict[str, Any] = SuggestionRun.objects.values_list("distractors", flat=True).get(pk=run.pk)
    counts = Counter({name: n for name, n in stored.items() if isinstance(n, int)}) + Counter(more)
    reasons = Counter(stored.get("refused", {})) + Counter(refused or {})
    SuggestionRun.objects.filter(pk=run.pk).update(distractors={**counts, "refused": dict(reasons)})
