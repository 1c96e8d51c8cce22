"""Proficiency tests, for admins: what there are, what each is made of, and who has sat it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.training.choosing import FEWEST, Candidate
from annotation.core.vocabulary import AttemptState
from annotation.language import translated
from annotation.models import ProficiencyTest, TestAttempt, Trajectory
from annotation.reports.training import proficiency as report
from annotation.reports.training import tutorial
from annotation.services import proficiency
from frontend.forms import add_errors
from frontend.forms.training import MARKS, TestForm
from frontend.pages.shared.common import ProjectPage, open_project, page_of
from frontend.pages.shared.errors import status_of
from frontend.pages.shared.list_page import Empty, Filter, ListPage, act, show
from frontend.rendering.identity import short_identity
from frontend.rendering.jinja import Macros
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.tristep import percent, state_name

VIEW, CHANGE = "training.view", "training.change"
training_cells = Macros("training")


def _share(name: str, title: str) -> Column:
    """A mark: the share that is asked, or was reached."""
    return Column(name, title, cell=lambda row: percent(getattr(row, name)), look="number")


def _marks() -> list[Column]:
    titles = (_("Agreement"), _("Errors found"), _("First errors found"))
    return [_share(name, title) for name, title in zip(MARKS, titles, strict=True)]


@require_GET
def tests(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The tests of a project, with what each asks and opens."""
    opened = open_project(request, slug, VIEW)

    def opens(row: ProficiencyTest) -> str:
        return ", ".join(subset.name for subset in row.opens.all())

    columns = [
        Column(
            "number",
            _("Test"),
            cell=lambda row: cells.link(
                _("Test %(n)s") % {"n": row.number}, at("test-detail", slug, row.number)
            ),
            look="main",
        ),
        Column("size", _("Items"), look="number"),
        *_marks(),
        Column("opens", _("Opens"), opens),
        Column("passed", _("Passed"), look="number"),
        Column("failed", _("Failed"), look="number"),
    ]
    new = cells.button(_("New test"), at("test-new", slug))
    empty = Empty(
        _("No test yet"),
        _("A test is made of training trajectories with a key. Who passes it is given the subsets it opens."),
        new,
    )
    rows = report.tests_of(viewer=opened.user, project=opened.project)
    listed = ListPage(request, columns, rows, empty)
    return show(opened, "training", listed, "training/tests.html", title=_("Tests"), tab="tests")


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Make a test: its items, of which those proposed are chosen already, and what it asks."""
    opened = open_project(request, slug, CHANGE)
    return _edit(opened, None)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """Change a test."""
    opened = open_project(request, slug, CHANGE)
    return _edit(opened, _test(opened, number))


def _test(opened: ProjectPage, number: int) -> ProficiencyTest:
    rows = ProficiencyTest.objects.filter(project=opened.project).select_related("project")
    return get_object_or_404(policies.visible(opened.user, rows), number=number)


def _edit(opened: ProjectPage, test: ProficiencyTest | None) -> HttpResponseBase:
    request, project = opened.request, opened.project
    pool = report.candidates(list(report.could_test(project)))
    rows = {row.pk: row for row in tutorial.choices(project)}
    if test is None:
        chosen = set(report.proposed(viewer=opened.user, project=project))
    else:
        chosen = {row.pk for row in report.items_of(test)}
    form = TestForm(request.POST or None, project=project, test=test)
    status = 200
    if request.method == "POST":
        chosen = {int(pk) for pk in request.POST.getlist("chosen") if pk.isdecimal() and len(pk) < 18}
        status = 400
        if form.is_valid():
            try:
                made = _store(opened, form, test, chosen)
            except (Invalid, Conflict) as error:
                add_errors(form, error if isinstance(error, Invalid) else Invalid(error.message))
                status = status_of(error)
            else:
                messages.success(request, _("The test is saved."))
                return redirect("frontend:test-detail", project.slug, made.number)
    trail = [(_("Tests"), at("tests", project.slug))]
    return opened.render(
        "training/test_edit.html",
        "training",
        status,
        title=_("New test") if test is None else _("Test %(n)s") % {"n": test.number},
        trail=trail,
        form=form,
        fewest=FEWEST,
        fixed=test is not None and test.sittings.exists(),
        table=_items_table(opened, pool, rows, chosen),
    )


@transaction.atomic
def _store(
    opened: ProjectPage, form: TestForm, test: ProficiencyTest | None, chosen: Collection[int]
) -> ProficiencyTest:
    order = [row.pk for row in report.items_of(test)] if test is not None else []
    pks = [pk for pk in order if pk in chosen] + sorted(pk for pk in chosen if pk not in order)
    rows = tutorial.chosen(opened.project, pks)
    if test is None:
        test = proficiency.make_test(
            actor=opened.user, project=opened.project, trajectories=rows, **form.settings()
        )
    else:
        test = proficiency.change_test(actor=opened.user, test=test, trajectories=rows, **form.settings())
    opens = set(form.cleaned_data.get("opens", ()))
    for subset in opens - set(test.opens.all()):
        proficiency.require_test(actor=opened.user, subset=subset, test=test)
    for subset in set(test.opens.all()) - opens:
        proficiency.require_test(actor=opened.user, subset=subset, test=None)
    return test


def _items_table(
    opened: ProjectPage, pool: Sequence[Candidate], rows: dict[int, Trajectory], chosen: Collection[int]
) -> Table:
    """The trajectories of which a test can be made, the chosen ones first."""

    def misled(one: Candidate) -> str:
        if not one.judges:
            return ""
        text = percent(one.misled)
        return cells.badge(text, "badge--warn") if one.contested else text

    def name(one: Candidate) -> str:
        return short_identity(rows[one.trajectory].record_id)

    columns = [
        Column(
            "record_id",
            _("Trajectory"),
            cell=lambda one: training_cells.chosen(one.trajectory, one.trajectory in chosen, name(one)),
            look="main",
        ),
        Column("subset", _("Subset"), lambda one: rows[one.trajectory].subset.name),
        Column(
            "steps",
            translated(opened.project.of_kind.names.many),
            lambda one: len(one.key) - 1,
            look="number",
        ),
        Column(
            "errors",
            _("Errors in the key"),
            lambda one: sum(value == -1 for index, value in one.key.items() if index is not None),
            look="number",
        ),
        Column("misled", _("Steps that most judges have wrong"), cell=misled, look="number"),
    ]
    ordered = sorted(pool, key=lambda one: (one.trajectory not in chosen, rows[one.trajectory].record_id))
    return Table(columns, ordered, title=_("Items"))


# ── One test ──────────────────────────────
@require_GET
def test(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """One test: what it asks, how likely a false pass is, and all attempts at it."""
    opened = open_project(request, slug, VIEW)
    row = _test(opened, number)
    items = report.items_of(row)
    passes = report.false_passes(viewer=opened.user, test=row)
    size = row.per_attempt or len(items)
    return show(
        opened,
        "training",
        _attempts(opened, row),
        "training/test.html",
        title=_("Test %(n)s") % {"n": row.number},
        trail=[(_("Tests"), at("tests", slug))],
        test=row,
        marks=_asked(row),
        size=size,
        pool=len(items),
        repeats=len(items) < 2 * size and row.attempts > 1,
        passes=_passes(passes),
        likely=[_rule(judge) for judge, chance in passes.items() if chance.too_likely],
        opens=[subset.name for subset in row.opens.order_by("name")],
    )


def _asked(row: ProficiencyTest) -> list[tuple[str, str]]:
    titles = (_("Agreement"), _("Errors found"), _("First errors found"))
    return [
        (title, percent(getattr(row, name)))
        for name, title in zip(MARKS, titles, strict=True)
        if getattr(row, name) is not None
    ]


def _rule(judge: str) -> str:
    return _("copies %(judge)s") % {"judge": judge} if judge else _("always says +1")


def _passes(passes: dict[str, report.FalsePass]) -> Table:
    def interval(row: tuple[str, report.FalsePass]) -> str:
        return f"{percent(row[1].low)} … {percent(row[1].high)}"

    columns = [
        Column("rule", _("Who …"), cell=lambda row: _rule(row[0]), look="main"),
        Column("chance", _("Chance to pass"), lambda row: percent(row[1].chance), look="number"),
        Column("interval", _("95 %% interval") % {}, interval, look="number"),
        Column(
            "as_they_are",
            _("On these very items"),
            lambda row: _("passes") if row[1].as_they_are else _("fails"),
        ),
    ]
    return Table(columns, list(passes.items()), title=_("Chance of a false pass"))


def _attempts(opened: ProjectPage, row: ProficiencyTest) -> ListPage:
    request = opened.request

    def acts(one: TestAttempt) -> str:
        of = f"{one.annotator}, {one.number}"
        if one.state == AttemptState.RUNNING:
            return act(request, _("Stop"), at("attempt-stop", one.pk), of=of)
        if one.state == AttemptState.FAILED and not one.waived:
            return act(request, _("Grant another"), at("attempt-grant", one.pk), of=of)
        return ""

    def state(one: TestAttempt) -> str:
        look = {"passed": "badge--good", "failed": "badge--warn"}.get(one.state, "badge--outline")
        waived = cells.soft(_("another was granted")) if one.waived else ""
        return cells.lines(cells.badge(state_name(one.state), look), waived)

    columns = [
        Column(
            "annotator",
            _("Annotator"),
            "annotator.username",
            lambda one: cells.link(one.annotator, at("attempt", one.pk)),
            "main",
        ),
        Column("number", _("Attempt"), look="number"),
        Column("state", _("State"), cell=state),
        *_marks(),
        Column("begun_at", _("Begun"), sort="-begun_at"),
        Column("ended_at", _("Ended"), sort="-ended_at"),
        Column("", _("Actions"), cell=acts, look="actions"),
    ]
    states = [(one.value, state_name(one.value)) for one in AttemptState]

    def rows(asked: dict[str, str]) -> Any:
        attempts = policies.visible(opened.user, report.attempts_at(row))
        if asked["state"]:
            attempts = attempts.filter(state=asked["state"])
        return attempts.order_by(asked["sort"] or "-begun_at", "-pk")

    return ListPage(
        request,
        columns,
        rows,
        Empty(_("Nobody has begun it yet")),
        [Filter("state", _("State"), states)],
        order="-begun_at",
        file="attempts",
    )


def _attempt(request: HttpRequest, pk: int) -> tuple[ProjectPage, TestAttempt]:
    rows = TestAttempt.objects.select_related("test__project", "annotator")
    row = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    return page_of(request, row.test.project, CHANGE), row


@require_POST
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop an attempt that is running."""
    opened, row = _attempt(request, pk)
    return _after(
        opened, row, lambda: proficiency.stop_attempt(actor=opened.user, attempt=row), _("Stopped.")
    )


@require_POST
def grant(request: HttpRequest, pk: int) -> HttpResponse:
    """Grant another attempt in place of one that has failed."""
    opened, row = _attempt(request, pk)
    return _after(
        opened,
        row,
        lambda: proficiency.grant_attempt(actor=opened.user, attempt=row),
        _("Another attempt is granted."),
    )


def _after(opened: ProjectPage, row: TestAttempt, done: Any, text: str) -> HttpResponse:
    try:
        done()
    except Conflict as error:
        messages.error(opened.request, translated(error.message))
    else:
        messages.success(opened.request, text)
    return redirect("frontend:test-detail", opened.project.slug, row.test.number)
