"""Judges: the list, setting one up, what there is to know about one, files of suggestions."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid, StaleVersion, TristepError
from annotation.core.judging import settings as specification
from annotation.core.judging.kinds import KINDS, JudgeKind, runnable_kinds
from annotation.core.judging.prompts import PROMPTS, template
from annotation.core.judging.setting_kinds import Setting, SettingKind
from annotation.core.kinds import Feature, available
from annotation.core.label_files import MAX_REQUEST
from annotation.language import translated
from annotation.models import Judge, Suggestion, SuggestionRun, User
from annotation.reports.judging import judge_overview
from annotation.reports.judging.baseline import BaselineFigure, training
from annotation.reports.judging.judge_overview import JudgeOverview
from annotation.reports.judging.recalibration import recalibration
from annotation.services import suggest
from frontend.forms import add_errors
from frontend.forms.judges import NameForm, SuggestionFileForm, form_of
from frontend.pages.judging.judge_figures import compared
from frontend.pages.shared.collision import collide
from frontend.pages.shared.common import ProjectPage, may_send, open_project, receives_files
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.rendering.began import BEGAN, begun, read
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.judging import count, money, run_badge, run_state
from frontend.templatetags.tristep import figure, percent

JUDGES_VERB = "judges.change"
SECTION = "judges"
LAST_RUNS = 5


def judges_of(opened: ProjectPage) -> Any:
    """The judges of a project that this person may know of."""
    return policies.visible(opened.user, Judge.objects.filter(project=opened.project))


def judge_place(slug: str, judge: Judge) -> tuple[str, str]:
    """The title and address of a judge's page, for the trail of those below it."""
    return judge.name, at("judge", slug, judge.pk)


def may_run(opened: ProjectPage) -> bool:
    """Whether there is a judge that a run could ask."""
    return bool(judges_of(opened).filter(kind__in=runnable_kinds(), retired_at__isnull=True).exists())


def run_columns(slug: str, *, judge: bool = True) -> list[Column]:
    """The columns of a table of runs, the judge's among them unless they are all of one."""
    return [
        Column(
            "run",
            _("Run"),
            "pk",
            lambda run: cells.link(_("Run %(n)s") % {"n": run.pk}, at("run", slug, run.pk)),
        ),
        Column(
            "judge",
            _("Judge") if judge else "",
            "judge.name",
            lambda run: _judge_link(slug, run.judge),
            "main",
        ),
        Column("state", _("State"), cell=lambda run: cells.badge(run_state(run.state), run_badge(run.state))),
        Column("done", _("Done"), "progress_done", look="number"),
        Column("failed", _("Failed"), "progress_failed", look="number"),
        Column("total", _("Total"), "progress_total", look="number"),
        Column("cost", _("Cost"), "cost", lambda run: money(run.cost), "number", "-cost"),
        Column("started", _("Started"), "created_at", sort="-created_at"),
    ]


def _judge_link(slug: str, judge: Judge) -> str:
    """A judge's name, which leads to the workshop for one that is tried there."""
    page = ("workshop-sample", slug, judge.sample_id) if judge.sample_id else ("judge", slug, judge.pk)
    return cells.link(judge.name, at(*page), "plain")


def _one(opened: ProjectPage, pk: int) -> Judge:
    judge: Judge = get_object_or_404(judges_of(opened).select_related("project", "created_by"), pk=pk)
    return judge


def _columns(slug: str) -> list[Column]:
    def name(row: JudgeOverview) -> str:
        link = cells.link(row.judge.name, at("judge", slug, row.judge.pk))
        return cells.lines(link, cells.soft(row.judge.model) if row.judge.model else "")

    def kind(row: JudgeOverview) -> str:
        return translated(KINDS[row.judge.kind].title)

    def state(row: JudgeOverview) -> str:
        if row.judge.retired_at:
            return cells.badge(_("retired"), "badge--outline")
        if row.run is None:
            return cells.soft(_("in use"))
        address = at("run", slug, row.run.pk)
        return cells.badge(run_state(row.run.state), run_badge(row.run.state), address)

    def costs(row: JudgeOverview) -> Decimal | None:
        return row.cost if KINDS[row.judge.kind].priced else None

    return [
        Column("judge", _("Judge"), "judge.name", name, "main", "judge"),
        Column("model", value="judge.model"),
        Column("kind", _("Kind"), "judge.kind", kind, sort="kind"),
        Column(
            "suggestions",
            _("Suggestions"),
            cell=lambda row: cells.beside(count(row.suggestions), failed_note(row.failed)),
            look="number",
            sort="-suggestions",
        ),
        Column("failed"),
        Column(
            "agreement",
            _("Agreement with annotators"),
            cell=lambda row: percent(row.agreement),
            look="number",
            sort="-agreement",
        ),
        Column("cost", _("Cost so far"), costs, lambda row: money(costs(row)), "number", "-cost"),
        Column("state", _("State"), lambda row: row.run and row.run.state, state),
    ]


def failed_note(failed: int) -> str:
    """The number of failed judgements, where there are any."""
    return cells.soft(ngettext("%(n)s failed", "%(n)s failed", failed) % {"n": failed}) if failed else ""


@require_GET
def judges(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The judges of a project with what they have done, or how to get one."""
    opened = open_project(request, slug, JUDGES_VERB)
    rows = judge_overview.overview(viewer=opened.user, project=opened.project)
    runnable = any(KINDS[row.judge.kind].runnable and row.judge.retired_at is None for row in rows)
    empty = Empty(
        _("No judge yet"),
        _(
            "Set up a judge and run it on the trajectories. Its suggestions stay hidden until each annotator "
            "has given their own labels."
        ),
    )
    figure = _(
        "Agreement with annotators: the share of steps on which the judge gives the same label as an "
        "annotator, over all submitted labels that were given without seeing a suggestion."
    )
    actions = [
        cells.link(_("All runs"), at("runs", slug), "button"),
        cells.link(_("New judge"), at("judge-new", slug), "button"),
    ]
    if opened.project.of_kind.has(Feature.JUDGES_FIRST):
        actions.append(cells.link(_("Judges first"), at("judges-first", slug), "button"))
    if runnable:
        actions.append(cells.link(_("Start a run"), at("run-new", slug), "button button--primary"))
    return show(
        opened,
        SECTION,
        ListPage(
            request, _columns(slug), rows, empty, order="judge", file="judges", below=cells.note(figure)
        ),
        "judging/list.html",
        about=_(
            "Judges suggest labels with a reason for each step. Annotators never learn their names, and see "
            "a suggestion only when the project’s policy says so."
        ),
        actions=actions if rows else [],
        kinds=available(opened.project.of_kind, KINDS).values(),
    )


@require_GET
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """The choice of a new judge's kind."""
    opened = open_project(request, slug, JUDGES_VERB)
    kinds = available(opened.project.of_kind, KINDS).values()
    return opened.render("judging/new.html", SECTION, title=_("New judge"), kinds=kinds)


def _form_page(
    opened: ProjectPage, kind: JudgeKind, form: NameForm, judge: Judge | None = None, **context: Any
) -> HttpResponse:
    return opened.render(
        "judging/form.html",
        SECTION,
        status=409 if context.get("collision") else 400 if form.errors else 200,
        title=_("Edit") if judge else _("New judge"),
        trail=[judge_place(opened.project.slug, judge)] if judge else [],
        form=form,
        kind=kind,
        judge=judge,
        allowed=suggest.operator().addresses,
        **context,
    )


@require_http_methods(["GET", "POST"])
def create(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Set a judge up."""
    opened = open_project(request, slug, JUDGES_VERB)
    if kind not in KINDS:
        raise Http404
    made = KINDS[kind]
    opened.project.of_kind.require(made.needs)
    form = form_of(made)(request.POST if request.method == "POST" else None, of_kind=opened.project.of_kind)
    if form.is_valid():
        try:
            judge = suggest.create_judge(
                actor=opened.user, project=opened.project, kind=kind, **form.values()
            )
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, _("Judge created."))
            return redirect("frontend:judge", slug, judge.pk)
    return _form_page(opened, made, form)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change a judge; what its answers depend on is locked once there are suggestions."""
    opened = open_project(request, slug, JUDGES_VERB)
    judge = _one(opened, pk)
    kind = KINDS[judge.kind]
    locked = judge_overview.locked(judge)
    posted = request.POST if request.method == "POST" else None
    values = form_of(kind).of(judge)
    form = form_of(kind)(posted, initial=values, of_kind=opened.project.of_kind)
    began = begun(judge.version, values) if posted is None else posted.get(BEGAN, "")
    collision = None
    if locked:
        form.lock()
    if posted is not None and form.is_valid():
        try:
            suggest.update_judge(
                actor=opened.user, judge=judge, values=form.values(), version=read(posted).version
            )
        except Invalid as error:
            add_errors(form, error)
        except StaleVersion:
            judge.refresh_from_db()
            values = form_of(kind).of(judge)
            began = begun(judge.version, values)
            collision = collide(opened, judge, form, values, take=request.path)
            form = form_of(kind)(initial=collision.values, of_kind=opened.project.of_kind)
            if locked:
                form.lock()
        except Conflict as error:
            form.add_error(None, translated(error.message))
        else:
            messages.success(request, _("Saved."))
            return redirect("frontend:judge", slug, pk)
    return _form_page(opened, kind, form, judge=judge, locked=locked, began=began, collision=collision)


def _facts(judge: Judge) -> list[tuple[str, str]]:
    """The settings of a judge behind a server: title, value in words."""
    if not KINDS[judge.kind].served:
        return [(_("Model"), judge.model)] if judge.model else []
    values = judge.setting_values()
    return [(translated(one.title), _in_words(one, values.get(one.name))) for one in specification.SETTINGS]


def _in_words(setting: Setting, value: Any) -> str:
    """A value of a setting, its default where there is none; a dash where the server decides."""
    if value is None:
        value = setting.default
    if value is None or value == "":
        return "–"
    match setting.kind:
        case SettingKind.CHOICE:
            return translated(dict(setting.choices).get(value, value))
        case SettingKind.FLAG:
            return _("yes") if value else _("no")
        case SettingKind.PRICE:
            return money(value)
        case SettingKind.WHOLE:
            return count(value)
        case SettingKind.OBJECT:
            return json.dumps(value, ensure_ascii=False)
    return str(value)


def _training_columns() -> list[Column]:
    beside = {
        "shares": _("how frequent each label is; smaller is better"),
        "always_plus_one": _("always +1"),
    }

    def value(one: BaselineFigure) -> str:
        bounds = "" if one.low is None else cells.soft(f"{figure(one.low)} – {figure(one.high)}")
        reason = cells.soft(translated(one.reason)) if one.reason else ""
        return cells.lines(figure(one.value), bounds, reason)

    return [
        Column("figure", _("Figure"), lambda one: translated(one.title)),
        Column("value", _("On held-out tasks"), cell=value, look="number"),
        Column("reference", _("For comparison"), cell=lambda one: figure(one.reference), look="number soft"),
        Column("reference_name", _("Compared with"), lambda one: beside[one.reference_name], look="soft"),
    ]


def _detail(
    opened: ProjectPage, judge: Judge, form: SuggestionFileForm | None = None, **context: Any
) -> HttpResponse:
    kind = KINDS[judge.kind]
    if kind.takes_files and form is None:
        form = SuggestionFileForm(project=opened.project)
    visible_runs = policies.visible(opened.user, SuggestionRun.objects.filter(judge=judge))
    brought = policies.visible(opened.user, Suggestion.objects.filter(judge=judge)).count()
    trained = training(judge)
    folds = Table(_training_columns(), trained.figures, labelledby="training") if trained else None
    runs = Table(run_columns(opened.project.slug, judge=False), visible_runs[:LAST_RUNS])
    figures, columns = compared(opened, judge) if brought else ([], [])
    return opened.render(
        "judging/detail.html",
        SECTION,
        status=400 if form is not None and form.errors else 200,
        title=judge.name,
        judge=judge,
        form=form,
        **context,
        kind=kind,
        runs=runs if kind.runnable else None,
        figures=figures,
        columns=columns,
        suggestions=brought,
        facts=_facts(judge),
        training=trained,
        training_figures=folds,
        recalibration=recalibration(viewer=opened.user, judge=judge) if brought else None,
        prompt=template(judge.prompt_version) if judge.prompt_version in PROMPTS else None,
    )


@require_GET
def judge(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One judge: how good it is, its runs or its file, its settings and its prompt."""
    opened = open_project(request, slug, JUDGES_VERB)
    return _detail(opened, _one(opened, pk))


@require_POST
def retire(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a judge out of use; its suggestions stay."""
    opened = open_project(request, slug, JUDGES_VERB)
    try:
        suggest.retire_judge(actor=opened.user, judge=_one(opened, pk))
    except TristepError as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, _("Judge retired. Its suggestions are kept."))
    return redirect("frontend:judge", slug, pk)


@require_POST
def restore(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a retired judge into use again."""
    opened = open_project(request, slug, JUDGES_VERB)
    suggest.restore_judge(actor=opened.user, judge=_one(opened, pk))
    messages.success(request, _("Judge reactivated."))
    return redirect("frontend:judge", slug, pk)


@require_POST
def recalibrate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Switch the recalibration of a judge on or off, or fit it anew."""
    opened = open_project(request, slug, JUDGES_VERB)
    on = request.POST.get("on") == "1"
    try:
        suggest.set_recalibration(actor=opened.user, judge=_one(opened, pk), on=on)
    except TristepError as error:
        messages.error(request, translated(error.message))
    else:
        text = _("Recalibration is being fitted.") if on else _("Recalibration switched off.")
        messages.success(request, text)
    return redirect("frontend:judge", slug, pk)


def _gate(user: User, slug: str, pk: int) -> int:
    may_send(user, slug, JUDGES_VERB)
    return MAX_REQUEST


@receives_files(_gate)
@require_POST
def import_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Bring in a file of suggestions, all of it or nothing, and show what came of it."""
    opened = open_project(request, slug, JUDGES_VERB)
    judge = _one(opened, pk)
    form = SuggestionFileForm(request.POST, request.FILES, project=opened.project)
    if not form.is_valid():
        return _detail(opened, judge, form)
    file, subset = form.cleaned_data["file"], form.cleaned_data["subset"]
    try:
        outcome = suggest.import_suggestions(
            actor=opened.user,
            project=opened.project,
            judge_name=judge.name,
            stream=file,
            filename=file.name or "upload",
            subset=subset.name if subset else "",
        )
    except TristepError as error:
        form.add_error("file", translated(error.message))
        return _detail(opened, judge, form, refused=getattr(error, "report", None))
    return _detail(opened, judge, outcome=outcome)
