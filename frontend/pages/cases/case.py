"""The data of a case's page: labels and decisions for its script, its keys, its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

from annotation.core import keymap
from annotation.core.kinds import Feature, ProjectKind
from annotation.core.vocabulary import ConsensusKind
from annotation.models import Adjudication, Decision, Step, User
from annotation.reports.cases.error_graphs import NumberedError
from annotation.reports.cases.side_by_side import SideBySide, SideBySideItem
from annotation.reports.shared.label_json import rules_of
from frontend.rendering.step_names import step_title
from frontend.templatetags.tristep import error_texts


def moves(phrases: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The buttons beside the steps: command, words, sign. `phrases` are the words of the script."""
    return [
        ("previous", phrases["key_previous"], "↑"),
        ("next", phrases["key_next"], "↓"),
        ("previous_disagreement", _("Previous disagreement (Shift+d)"), "⤒"),
        ("next_disagreement", _("Next disagreement (d)"), "⤓"),
    ]


def state(*, row: Adjudication, reader: User, shown: SideBySide) -> dict[str, Any]:
    """The initial state of the script. `says` is what each letter says now, after their changes of mind;
    `agreed` is the value that nobody disputes now; roots are message indexes."""
    rules = asdict(rules_of(row.project, row.trajectory.subset))
    return {
        # in a consensus everything is explicit: nothing is carried forward or proposed for the others
        "rules": {**rules, "carry_forward": False, "others": False},
        "steps": [_step(item, item.step) for item in shown.steps if item.step is not None],
        "outcome": _said(shown.outcome),
        "keys": keymap.case_table(reader.keymap),
        "words": words(row.project.of_kind),
    }


def _step(item: SideBySideItem, step: Step) -> dict[str, Any]:
    return {
        "index": step.message_index,
        "number": step.ordinal + 1,
        "after_user_turn": step.after_user_turn,
        **_said(item),
    }


def _said(item: SideBySideItem) -> dict[str, Any]:
    return {
        "says": {label.letter: asdict(label.says.judged) for label in item.labels},
        "agreed": item.agreed_now,
        "named": item.named.judged.root,
        "decided": item.decision.value if item.decision else None,
        "root": item.decision.root.message_index if item.decision and item.decision.root else None,
        "disputed": item.contested,
    }


def stored(decision: Decision | None, errors: Iterable[NumberedError]) -> dict[str, Any]:
    """The answer to the script: the decision as it is stored (None: taken back), and the errors of the
    consensus so far in words."""
    return {
        "value": decision.value if decision is not None else None,
        "version": decision.version if decision is not None else 0,
        "by_majority": decision is not None and decision.kind == ConsensusKind.MAJORITY,
        "errors": error_texts(errors),
    }


def words(kind: ProjectKind) -> dict[str, str]:
    """Every word that the script shows, translated; {…} is filled in by the script. Steps are called what
    they are in a kind of project."""
    phrases = {
        "step": step_title("{n}", kind),
        "outcome": _("Outcome"),
        "progress": _("{done} of {all}"),
        "saving": _("saving…"),
        "saved": _("decided"),
        "saved_by_majority": _("decided by majority"),
        "withdrawn": _("taken back"),
        "nothing_decided": _("Nothing is decided here."),
        "offline": _("Not saved: no connection. Decide again when there is one."),
        "signed_out": _("Not saved: sign in again in another tab, then decide again."),
        "stale": _("{reason} It is {value} now; choose again to change it. Your note is still here."),
        "stale_open": _("{reason} Nothing is decided now; choose again. Your note is still here."),
        "no_such": _("This case has no annotator {letter}."),
        "not_disputed": _("Nobody disputes this."),
        "all_decided": _("Everything is decided."),
        "no_disagreement": _("There is no disagreement here."),
        "decide_first": _("Decide this first: the judges’ suggestions for it are sealed until then."),
        "effect_new": _("begins an error"),
        "effect_joins": _("a consequence of step {n}"),
        "effect_ends": _("ends the error of step {n}"),
        "effect_suspends": _("suspends the error of step {n}"),
        "effect_none": _("no error here"),
        "runs": _("Errors after this decision: {list}"),
        "runs_none": _("no error in the whole trajectory"),
        "run": _("step {n}"),
        "run_with": _("step {n} with {list}"),
        "run_proposed": _("{run} (−1 would be proposed for {list})"),
        "began_at": _("Began at step {n}"),
        "group_label": _("Decide"),
        "group_move": _("Move"),
        "group_mark": _("Mark"),
        "group_rest": _("Other"),
        "key_plus": _("+1 for this step, and on to the next disagreement"),
        "key_zero": _("0 for this step, and on to the next disagreement"),
        "key_minus": _("−1 for this step, and on to the next disagreement"),
        "key_take_a": _("Take A’s label"),
        "key_take_b": _("Take B’s label"),
        "key_take_c": _("Take C’s label, if there is a C"),
        "key_outcome_plus": _("Outcome +1"),
        "key_outcome_zero": _("Outcome 0"),
        "key_outcome_minus": _("Outcome −1"),
        "key_clear": _("Take the decision back"),
        "focused": _("Focused step"),
        "key_next": _("Next step"),
        "key_previous": _("Previous step"),
        "key_next_disagreement": _("Next disagreement"),
        "key_previous_disagreement": _("Previous disagreement"),
        "key_next_unlabelled": _("Next disagreement that is undecided"),
        "key_note": _("Write why you decide so"),
        "key_suggestions": _("Show what judges suggest, once you have decided"),
        "key_expand": _("Unfold this step and its long outputs"),
        "key_raw": _("This step and its results exactly as they came"),
        "key_search": _("Search in this trajectory"),
        "key_guidelines": _("Guidelines"),
        "key_submit": _("Finish the case, and open the next"),
        "key_help": _("This list of keys"),
        "key_palette": _("Go to a page, a project or a trajectory, or search"),
        "key_escape": _("From a field back to the step"),
    }
    return phrases | _words_of_options() if kind.has(Feature.PAIRS) else phrases


def _words_of_options() -> dict[str, str]:
    """Other words where the steps are alternatives."""
    return {
        "focused": _("Focused option"),
        "key_plus": _("+1 for this option, and on to the next disagreement"),
        "key_zero": _("0 for this option, and on to the next disagreement"),
        "key_minus": _("−1 for this option, and on to the next disagreement"),
        "key_next": _("Next option"),
        "key_previous": _("Previous option"),
        "key_expand": _("Unfold this option and its long texts"),
        "key_raw": _("This option exactly as it came"),
        "key_escape": _("From a field back to the option"),
    }
