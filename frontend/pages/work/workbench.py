"""The workbench: one assignment, to be labelled; and the images that stand in trajectories."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation.core import keymap
from annotation.core.kinds import STEPS, Feature, ProjectKind
from annotation.core.vocabulary import REASON_CODES, DecisionKind, RecheckKind, SuggestionPolicy
from annotation.models import Trajectory
from annotation.policies.lookups import own_assignment
from annotation.policies.training import readable
from annotation.reports.judging.suggestions import has_judges
from annotation.reports.shared import transcripts
from annotation.reports.shared.label_json import label_json
from annotation.reports.work.guidelines import has_unread
from annotation.reports.work.my_progress import neighbours, own_work
from annotation.reports.work.workbench import Workbench
from annotation.reports.work.workbench import workbench as workbench_report
from frontend.pages.shared.common import image_response, page_of, person, there
from frontend.pages.work.reading import finds, guidelines_shown, is_part, pinned_question, reading, run
from frontend.rendering.run_parts import RunParts
from frontend.rendering.run_strip import run_strip
from frontend.rendering.step_names import step_inside, step_title
from frontend.rendering.transcript import RenderedMessage

UNSAID = {**label_json(-1, None), "after_user_turn": False}
"""The values of a step that the script takes for granted."""


@require_GET
@never_cache
def workbench(request: HttpRequest, pk: int) -> HttpResponse:
    """My assignment: its trajectory laid out, and everything the script needs to label it."""
    user = person(request)
    assignment = there(own_assignment(user, pk))
    opened = page_of(request, assignment.project, "label")
    bench = workbench_report(actor=user, assignment=assignment)
    if bench.open and has_unread(user=user, guideline=bench.guidelines):
        return redirect("frontend:workbench-guidelines", pk)
    if (answer := finds(request, bench.transcript, bench.steps)) is not None:
        return answer
    shown = run(request, bench.transcript, bench.steps, opened.project.of_kind, first=bench.first_unlabelled)
    if opened.project.of_kind.has(Feature.PAIRS):
        shown["run"] = _arranged(shown["run"], bench.order)
    if is_part(request):
        return opened.render("workbench/part.html", "work", trajectory=assignment.trajectory, **shown)
    return opened.render(
        "workbench/workbench.html",
        "work",
        bench=bench,
        own=own_work(user, [opened.project.pk])[opened.project.pk],
        beside=neighbours(assignment),
        remarks=assignment.remarks.select_related("step").order_by("pk"),
        steps=bench.steps,
        **guidelines_shown(bench.guidelines),
        state=_state(bench, shown["parts"]),
        suggestions=_offers_suggestions(bench),
        strip=run_strip(bench.transcript, bench.steps),
        nav=None,
        **shown,
        **reading(assignment.trajectory, bench.transcript, shown["parts"]),
        pinned_question=pinned_question(assignment.trajectory, bench.transcript),
    )


@require_GET
def trajectory_image(request: HttpRequest, pk: int, message: int, part: int) -> HttpResponse:
    """One image of a trajectory, as the bytes of a PNG, JPEG, GIF or WebP file and never anything else."""
    trajectory = get_object_or_404(
        readable(request.user, Trajectory.objects.select_related("project")), pk=pk
    )
    image = transcripts.image(
        actor=person(request), trajectory=trajectory, message_index=message, part_index=part
    )
    return image_response(image)


def _offers_suggestions(bench: Workbench) -> bool:
    """Whether steps have a button for suggestions. It says nothing of whether there are any here."""
    policy = bench.access.suggestions
    sealed = (SuggestionPolicy.NEVER,) + ((SuggestionPolicy.AFTER_SUBMIT,) if bench.open else ())
    return policy not in sealed and has_judges(bench.assignment.project)


def _arranged(messages: list[RenderedMessage], order: Sequence[int]) -> list[RenderedMessage]:
    """The history, and then the alternatives in the order in which they are shown."""
    place = {index: at for at, index in enumerate(order)}
    return sorted(messages, key=lambda message: place.get(message.index, -1))


def _state(bench: Workbench, parts: RunParts) -> dict[str, Any]:
    """The initial state of the script: the labels, where to send them, and the words it shows.

    Of a step only what is said of it: a trajectory may have thousands, and of most nothing is said. Steps
    come as they stand on the page: by parts, where a run is drawn in parts, and in each as they are shown.
    """
    steps = bench.state["steps"]
    if parts.several:
        starts = [part.start for part in parts.parts]
        steps = sorted(steps, key=lambda step: bisect_right(starts, step["message_index"]))
    return {
        **bench.state,
        "steps": [_said(step, at) for at, step in enumerate(steps)],
        "preset": bench.preset,
        "open": bench.open,
        "user": bench.assignment.annotator_id,
        "assignment": bench.assignment.pk,
        "marks": {
            "needs_discussion": bench.assignment.needs_discussion,
            "broken": bench.assignment.broken,
        },
        "active_ms": bench.assignment.active_ms,
        "urls": {
            "labels": reverse("api:labels", args=[bench.assignment.pk]),
            "marks": reverse("api:marks", args=[bench.assignment.pk]),
            "submit": reverse("api:submit", args=[bench.assignment.pk]),
            "return": reverse("api:return", args=[bench.assignment.pk]),
            "activity": reverse("api:activity", args=[bench.assignment.pk]),
            "reveals": reverse("api:reveals", args=[bench.assignment.pk]),
            "done": reverse("frontend:work", args=[bench.assignment.project.slug]),
            **_guided_urls(bench),
        },
        "suggestions": bench.access.suggestions,
        "keys": keymap.table(bench.assignment.annotator.keymap, bench.assignment.project.of_kind),
        "reasons": [{"code": one.code, "value": one.value, "title": _(one.title)} for one in REASON_CODES],
        "words": _words(bench),
    }


def _guided_urls(bench: Workbench) -> dict[str, str]:
    """The addresses of feedback in the tutorial."""
    if bench.guided is None or bench.guided.kind != RecheckKind.TUTORIAL:
        return {}
    return {"feedback": reverse("api:feedback", args=[bench.assignment.pk])}


def _words(bench: Workbench) -> dict[str, str]:
    phrases = words(bench.assignment.project.of_kind)
    if bench.transcript.kind is DecisionKind.PAIR:
        return phrases
    return phrases | {
        "key_zero": _("0 for the focused option: it cannot be said, and is left out; and on to the next")
    }


def _said(step: dict[str, Any], at: int) -> dict[str, Any]:
    taken = {**UNSAID, "ordinal": at}
    return {name: value for name, value in step.items() if taken.get(name, ...) != value}


def words(kind: ProjectKind = STEPS) -> dict[str, str]:
    """Every word the script shows, translated; {…} is filled in by the script. Steps are called what they are
    in a kind of project."""
    title, inside = step_title("{n}", kind), step_inside("{n}", kind)
    phrases = {
        "step": title,
        "outcome": _("Outcome"),
        "progress": _("{done} of {all}"),
        "no_label": _("no label"),
        "labelled": _("{value}"),
        "proposed": _("{value} proposed"),
        "confirmed": _("{value}, confirmed"),
        "proposal_from": _("Proposed: a consequence of step {n}"),
        "proposal_carry": _("Proposed: like the step before"),
        "root_self": _("A new error"),
        "root_from": _("A consequence of step {n}"),
        "closes": _("Ends the error of step {n}"),
        "corrected": _("Error of step {n}: corrected here"),
        "independent": _("Error of step {n}: this does not depend on it"),
        "ask_closes": _("Step {n} ends the error of step {root}. Why?"),
        "ask_keys": _("{question} {corrected}: corrected. {independent}: independent. Escape: left open."),
        "ask_left": _("Left open. Your label stays."),
        "tooltip": _("{name} ({key})"),
        "no_reason": _("Reason…"),
        "reason_is": _("Reason: {reason}"),
        "reasons_title": _("Reason for {value} of {step}").replace("{step}", inside),
        "reasons_none": _("No reason"),
        "reasons_label_first": _("Label a step first; then say why."),
        "unsure": _("unsure"),
        "flagged": _("flagged"),
        "noted": _("has a note"),
        "saved": _("All changes saved"),
        "saving": _("Saving…"),
        "unsaved": _("Not saved yet"),
        "unavailable": _(
            "The server is not responding. Your changes are kept in this browser and sent again."
        ),
        "offline": _("No connection. Your changes are kept in this browser and sent again."),
        "conflict": _("Saved, with a conflict"),
        "stale": _("This was changed in another window. The stored value is shown; {value} was not saved."),
        "use_mine": _("Use {value} instead"),
        "elsewhere": _("This was changed in another window."),
        "elsewhere_open": _("This trajectory is open in another window too. Both show the same labels."),
        "refused": _("{value} was not saved: {reason}"),
        "closed": _("This is no longer open for labelling: what you have changed since it was is not saved."),
        "signed_out": _(
            "You have been signed out. Sign in again in another tab; your changes are kept here."
        ),
        "failed": _("The server could not save this: {reason}"),
        "unkept": _(
            "This browser has no storage space left: keep this page open until your changes are saved."
        ),
        "confirm": _("Confirm"),
        "confirm_steps": _("Confirm {steps}"),
        "nothing_to_confirm": _("Nothing to confirm here."),
        "nothing_left": _("Every step has a label."),
        "nothing_to_undo": _("Nothing to undo."),
        "undone": _("Undone."),
        "confirmed_n": _("{n} confirmed."),
        "missing_step": _("{step} has no label yet.").format(step=title),
        "missing_confirm": _("The proposal of step {n} is not confirmed yet."),
        "missing_outcome": _("The outcome is not set yet."),
        "missing_rest": _("Also missing: {list}."),
        "odd_success": _("The last step is −1, but the outcome is +1."),
        "odd_failure": _("The outcome is −1, but no step is −1."),
        "submit_again": _("If that is right, submit again."),
        "wait_return": _("Some changes are not saved yet. The trajectory is returned once they are."),
        "time": _("Time you worked on it: {n} min"),
        "wait": _("Some changes are not saved yet. The trajectory is submitted once they are."),
        "group_label": _("Label"),
        "group_move": _("Move"),
        "group_mark": _("Mark"),
        "group_rest": _("Other"),
        "key_plus": _("+1 for the focused step, and on to the next"),
        "key_zero": _("0 for the focused step, and on to the next"),
        "key_minus": _("−1 for the focused step, and on to the next"),
        "key_confirm": _("Confirm the proposals from here on that you have seen"),
        "key_closes_corrected": _("The error that ends here: corrected"),
        "key_closes_independent": _("The error that ends here: this does not depend on it"),
        "key_reason": _("Say why: opens the reasons, and a letter takes one"),
        "key_clear": _("Remove the label"),
        "key_root": _("A new error, or a consequence"),
        "key_outcome_plus": _("Outcome +1"),
        "key_outcome_zero": _("Outcome 0"),
        "key_outcome_minus": _("Outcome −1"),
        "focused": _("Focused step"),
        "key_drop": _("Not fit: outcome −1, to be dropped"),
        "key_others": _("−1 proposed for every option without a label, once one is +1; again: taken back"),
        "key_next": _("Next step"),
        "key_previous": _("Previous step"),
        "key_trajectory_next": _("My trajectory after this one"),
        "key_trajectory_previous": _("My trajectory before this one"),
        "no_next": _("This is the last trajectory you have claimed."),
        "no_previous": _("This is the first trajectory you have claimed."),
        "key_next_unlabelled": _("Next step without a label"),
        "key_unsure": _("Unsure"),
        "key_flag": _("Flag"),
        "key_note": _("Write a note"),
        "suggestions": _("Suggestions"),
        "suggestions_step": _("Suggestions for {step}").format(step=inside),
        "suggestions_outcome": _("Suggestions for the outcome"),
        "suggestions_seen": _("seen suggestions"),
        "no_suggestion": _("no suggestion"),
        "recalibrated": _("recalibrated"),
        "suggestions_none": _("There are no suggestions from judges here."),
        "suggestions_label_first": _("Label this step first."),
        "suggestions_outcome_first": _("Set the outcome first."),
        "suggestions_submit": _("Suggestions are shown once you have submitted."),
        "suggestions_never": _("This project does not show suggestions while labelling."),
        "suggestions_unsaved": _("Your label has to be saved first. Try again when it is."),
        "suggestions_offline": _("Suggestions need a connection. Try again later."),
        "feedback_step": _("Feedback on {step}").format(step=inside),
        "feedback_outcome": _("Feedback about the outcome"),
        "feedback_right": _("{value} is right."),
        "feedback_wrong": _("You said {value}; the key says {key}."),
        "feedback_part": _("Read this in the guidelines"),
        "key_suggestions": _("Show what judges suggest for this step"),
        "key_expand": _("Show long outputs of this step in full"),
        "key_raw": _("Show the raw step and its results"),
        "key_search": _("Search in this trajectory"),
        "key_undo": _("Undo"),
        "key_redo": _("Redo"),
        "key_guidelines": _("Guidelines"),
        "key_submit": _("Submit"),
        "key_help": _("Show this list of keys"),
        "key_palette": _("Go to a page, a project or a trajectory, or search"),
        "key_escape": _("Leave a field, a dialog or an open question. Nothing is lost."),
    }
    return phrases | _words_of_options() if kind.has(Feature.PAIRS) else phrases


def _words_of_options() -> dict[str, str]:
    """Other words where the steps are alternatives."""
    return {
        "nothing_left": _("Every option has a label."),
        "reasons_label_first": _("Label an option first; then say why."),
        "suggestions_label_first": _("Label this option first."),
        "focused": _("Focused option"),
        "key_plus": _("+1 for the focused option, and on to the next"),
        "key_zero": _("0 for the focused option, and on to the next"),
        "key_minus": _("−1 for the focused option, and on to the next"),
        "key_confirm": _("Confirm the proposals from here on that you have seen; without any, submit"),
        "missing_confirm": _("The proposal of option {n} is not confirmed yet."),
        "proposal_others": _("Proposed: another option is right"),
        "others_first": _("Label an option +1 first: then −1 can be proposed for the others."),
        "others_pair": _("Of a pair each option is labelled by itself: nothing is proposed."),
        "others_none": _("Every option has a label."),
        "others_proposed": _("−1 is proposed for {n}. Confirm it, or label them otherwise."),
        "others_withdrawn": _("The proposals are taken back."),
        "key_next": _("Next option"),
        "key_previous": _("Previous option"),
        "key_next_unlabelled": _("Next option without a label"),
        "key_suggestions": _("Show what judges suggest for this option"),
        "key_expand": _("Show long texts of this option in full"),
        "key_raw": _("Show the raw option"),
        "key_submit": _("Submit, with the outcome that is on the screen"),
        "outcome_1": _("+1, fit for use"),
        "outcome_0": _("0, unsure"),
        "outcome_-1": _("−1, to be dropped"),
    }
