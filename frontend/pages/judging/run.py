"""One run of a judge: watching it, steering it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.core.decisions.distractors import Refusal
from annotation.core.errors import Invalid, TristepError
from annotation.core.text import unescape
from annotation.core.vocabulary import RESUMABLE_RUNS
from annotation.core.vocabulary import SuggestionRunState as State
from annotation.language import translated
from annotation.models import SuggestionRun
from annotation.reports.judging import judge_overview
from annotation.reports.judging import runs as reports
from annotation.services import suggest
from frontend.forms import add_errors
from frontend.forms.runs import BudgetForm
from frontend.pages.judging.judge_figures import compared as compared_with_people
from frontend.pages.judging.judges import SECTION
from frontend.pages.judging.runs import RUNS_VERB, one_run
from frontend.pages.shared.columns import record_column
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import ListPage
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.judging import count, duration, failure_name, money, refusal_name, run_state
from frontend.templatetags.tristep import state_name

BUSY = (State.QUEUED, State.RUNNING)
BAD = (State.STOPPED, State.OVER_BUDGET)
RUN_ACTIONS: dict[str, Any] = {
    "pause": suggest.pause_run,
    "cancel": suggest.cancel_run,
    "retry": suggest.retry_failed,
}


def _busy(progress: reports.RunProgress) -> bool:
    """Whether figures still change: it works or waits, or calls under way still come in."""
    return progress.run.state in BUSY or progress.draining


def _figures(progress: reports.RunProgress) -> dict[str, str]:
    """The figures that change while a run goes on, in words, by their place on the page."""
    run = progress.run
    handled = progress.done + progress.failed
    text = _("%(n)s of %(total)s") % {"n": count(handled), "total": count(progress.total)}
    return {
        "counted": text,
        "done": count(progress.done),
        "failed": count(progress.failed),
        "rate": "–" if progress.per_minute is None else count(round(progress.per_minute)),
        "left": duration(progress.seconds_left),
        "cost": money(run.cost) + (" *" if run.cost_estimated else ""),
        **{role: value for role, _name, value in _written(run)},
    }


def _written(run: SuggestionRun) -> list[tuple[str, str, str]]:
    """Counts of a run that asks for distractors: of each figure its place on the page, name and value."""
    written = reports.written(run)
    if written is None:
        return []
    rows = [("added", _("Options added"), written.added)]
    rows += [
        (f"refused-{reason}", refusal_name(reason), written.refused.get(reason.value, 0))
        for reason in Refusal
    ]
    rows += [
        ("short", _("Questions that still have fewer"), written.short),
        ("changed", _("Questions begun or replaced meanwhile"), written.changed),
    ]
    return [(role, name, count(n)) for role, name, n in rows]


def _kinds(opened: ProjectPage, run: SuggestionRun) -> list[dict[str, Any]]:
    return [
        {
            "kind": row.kind,
            "title": failure_name(row.kind),
            "count": row.count,
            "message": escape_control_chars(unescape(translated(row.message))),
        }
        for row in reports.failures(viewer=opened.user, run=run)
    ]


def _sentence(progress: reports.RunProgress) -> str:
    """The reason for a run's state."""
    run = progress.run
    if run.stop_reason:
        return escape_control_chars(unescape(translated(run.stop_reason)))
    if progress.waiting_until is not None:
        moment = date_format(localtime(progress.waiting_until), "TIME_FORMAT")
        return _("The judge’s server asked to wait until %(time)s; the run continues then.") % {
            "time": moment
        }
    if progress.draining:
        return _("No new calls are started. Calls in progress are still stored.")
    words = {
        State.QUEUED: _("Waiting for a worker; it starts automatically."),
        State.PAUSED: _("No new calls are started until you resume."),
        State.CANCELLED: _cancelled(run),
        State.OVER_BUDGET: _("The next call could have exceeded the budget."),
    }
    return words.get(State(run.state), "")


def _cancelled(run: SuggestionRun) -> str:
    if run.options is not None:
        return _("Ended for good. The options it added are kept.")
    if run.prompts_id is not None:
        return _("Ended for good. The answers it gave are kept.")
    return _("Ended for good. The suggestions it made are kept.")


def _subject(run: SuggestionRun) -> tuple[str, str]:
    """The subject of a run: a name for it, and which."""
    if run.prompts is not None:
        return _("Prompts"), run.prompts.name
    asked = run.selection
    chosen = [asked.get("subset"), asked.get("policy_model")]
    if asked.get("state"):
        chosen.append(state_name(asked["state"]))
    if asked.get("limit"):
        chosen.append(_("at most %(n)s") % {"n": asked["limit"]})
    everything = _("all without a complete suggestion")
    if run.options is not None:
        everything = _("all questions with fewer options")
    return _("Trajectories"), ", ".join(part for part in chosen if part) or everything


def _facts(run: SuggestionRun) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [
        _subject(run),
        (_("Calls"), count(run.calls)),
        (_("Input tokens"), count(run.tokens_in)),
        (_("Output tokens"), count(run.tokens_out)),
    ]
    for name, value in (
        (_("Shortened for the judge"), run.clipped),
        (_("Labels missing"), run.labels_missing),
        (_("Invalid labels"), run.labels_invalid),
        (_("Labels for messages that are not steps"), run.labels_extra),
        (_("Labels that differed between two orders, and so are missing"), run.labels_order_dependent),
    ):
        if value:
            facts.append((name, count(value)))
    if run.cost_estimated:
        facts.append(
            (_("Cost"), _("* The server did not count all tokens; this is our own count, on the high side."))
        )
    if run.estimate.get("cost"):
        facts.append((_("Estimated cost"), money(run.estimate["cost"])))
    if run.finished_at:
        facts.append((_("Ended"), run.finished_at))
    return facts


def _run_actions(run: SuggestionRun) -> list[dict[str, str]]:
    """The actions on a run in its state, but for resuming, which has a form."""
    state = State(run.state)
    actions = []
    if state in BUSY:
        actions.append({"name": "pause", "title": _("Pause"), "style": ""})
    if state in (State.FINISHED, State.STOPPED, State.OVER_BUDGET) and run.progress_failed:
        title = ngettext("Retry %(n)d failed", "Retry %(n)d failed", run.progress_failed)
        actions.append({"name": "retry", "title": title % {"n": run.progress_failed}, "style": ""})
    if state not in (State.FINISHED, State.CANCELLED):
        actions.append({"name": "cancel", "title": _("Cancel the run"), "style": "danger"})
    return actions


def _failed_columns(slug: str) -> list[Column]:
    return [
        record_column(lambda item: at("trajectory", slug, item.trajectory_id), title=_("Trajectory")),
        Column(
            "reason",
            _("Reason"),
            "failure",
            lambda item: cells.lines(
                cells.strong(failure_name(item.failure)), unescape(translated(item.message))
            ),
            "main",
        ),
        Column(
            "",
            _("Raw answer"),
            cell=lambda item: (
                item.answer
                and cells.button(
                    _("Raw answer"),
                    at("judge-answer", slug, item.answer),
                    short_identity(item.trajectory.record_id),
                )
            ),
            look="actions",
        ),
    ]


def run_title(pk: int) -> str:
    """The name of a run."""
    return _("Run %(n)s") % {"n": pk}


def _run_page(opened: ProjectPage, run: SuggestionRun, form: BudgetForm | None = None) -> HttpResponse:
    progress = reports.progress(viewer=opened.user, run=run)
    failed = judge_overview.failed(viewer=opened.user, run=run)
    run = progress.run
    busy = _busy(progress)
    unseen = busy or run.options is not None or run.prompts is not None
    compared, columns = ([], []) if unseen else compared_with_people(opened, run.judge, run.pk)
    return opened.render(
        "judging/run.html",
        SECTION,
        status=400 if form is not None and form.errors else 200,
        title=run_title(run.pk),
        trail=[(_("Runs"), at("runs", opened.project.slug))],
        run=run,
        busy=busy,
        bad=run.state in BAD,
        handled=run.progress_done + run.progress_failed,
        figures=_figures(progress),
        compared=compared,
        columns=columns,
        kinds=_kinds(opened, run),
        written=_written(run),
        sentence=_sentence(progress),
        facts=_facts(run),
        actions=_run_actions(run),
        resumable=run.state in RESUMABLE_RUNS,
        priced=bool(run.judge.price_input or run.judge.price_output),
        form=form
        or BudgetForm(initial={"budget": None if run.budget is None else f"{run.budget.normalize():f}"}),
        list=ListPage(opened.request, _failed_columns(opened.project.slug), failed),
    )


@never_cache
@require_GET
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One run: how far it is, what it cost, what went wrong, and what can be done."""
    opened = open_project(request, slug, RUNS_VERB)
    return _run_page(opened, one_run(opened, pk))


@never_cache
@require_GET
def status(request: HttpRequest, slug: str, pk: int) -> JsonResponse:
    """The same figures in the reader's words, for the script on the page."""
    opened = open_project(request, slug, RUNS_VERB)
    progress = reports.progress(viewer=opened.user, run=one_run(opened, pk))
    row = progress.run
    return JsonResponse(
        {
            "state": row.state,
            "title": run_state(row.state),
            "busy": _busy(progress),
            "progress": {
                "done": progress.done,
                "failed": progress.failed,
                "total": progress.total,
            },
            "figures": _figures(progress),
            "failures": _kinds(opened, row),
        }
    )


@require_POST
def run_action(request: HttpRequest, slug: str, pk: int, name: str) -> HttpResponse:
    """Pause, go on (perhaps with another budget), cancel, or ask again about what failed."""
    opened = open_project(request, slug, RUNS_VERB)
    row = one_run(opened, pk)
    try:
        if name == "resume":
            form = BudgetForm(request.POST)
            if not form.is_valid():
                return _run_page(opened, row, form)
            try:
                suggest.resume_run(actor=opened.user, run=row, budget=form.cleaned_data["budget"])
            except Invalid as error:
                add_errors(form, error)
                return _run_page(opened, row, form)
        elif name in RUN_ACTIONS:
            RUN_ACTIONS[name](actor=opened.user, run=row)
        else:
            raise Http404
    except TristepError as error:
        messages.error(request, translated(error.message))
    return redirect("frontend:run", slug, pk)
