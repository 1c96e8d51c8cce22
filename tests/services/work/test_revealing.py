"""Suggestions are sealed until the policy opens them; a reveal fixes the blind value and is never undone."""

from __future__ import annotations

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, StaleState, TristepError
from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, Exposure, Label, LabelEvent, OutcomeLabel
from annotation.reports.agreement.report import agreement
from annotation.reports.judging.suggestions import anonymised_order, revealed
from annotation.services import assign, exposures, label
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, change, claim, import_records, label_all, make_record
from tests.services.revealing import kept, opened, reveal, set_policy
from tests.services.saving import save, shown
from tests.services.together import refused, together
from tests.suggesting import suggest


@shared_rows
def mine(cast: Cast) -> Assignment:
    """Suggestions open after a label of one's own."""
    return opened(cast)


@shared_rows
def always_open(cast: Cast) -> Assignment:
    """Suggestions are open at once."""
    return opened(cast, "always")


def code_of(assignment: Assignment, index: int | None = None, **asked: bool) -> str:
    with pytest.raises(TristepError) as refusal:
        reveal(assignment, index, **asked)
    return refusal.value.code


# ── the policies ──────────────────────────
def test_reveal_after_label_opens_a_step_with_its_own_stored_label(mine: Assignment) -> None:
    save(mine, change(2, 1))

    (step,) = reveal(mine, 2)

    assert step.message_index == 2
    assert [(one.number, one.value, one.reason) for one in step.suggestions] == [(1, -1, "the judge on 2")]
    assert code_of(mine, 4) == "label_first"
    assert code_of(mine, outcome=True) == "label_first"
    save(mine, change(None, 1))
    assert reveal(mine, outcome=True)[0].suggestions[0].reason == "the judge on the outcome"


def test_reveal_after_label_opens_nothing_for_a_label_that_was_taken_back(mine: Assignment) -> None:
    save(mine, change(2, 1))
    save(mine, change(2, None, version=1, note="I am not sure any more"))

    assert code_of(mine, 2) == "label_first"
    assert code_of(mine, everything=True) == "label_first"


def test_reveal_of_everything_opens_what_is_open_and_no_more(cast: Cast, mine: Assignment) -> None:
    save(mine, change(2, 1), change(4, 0))

    assert [one.message_index for one in reveal(mine, everything=True)] == [2, 4]
    assert Exposure.objects.filter(user=cast.ann, kind="suggestion").count() == 2


def test_reveal_after_submit_opens_nothing_before_and_everything_after(cast: Cast) -> None:
    mine = opened(cast, "after_submit")
    label_all(mine)

    assert code_of(mine, 2) == "submit_first"
    mine = label.submit(actor=cast.ann, assignment=mine)
    assert [one.message_index for one in reveal(mine, everything=True)] == [2, 4, 6, None]


@pytest.mark.postgres
def test_reveal_after_submit_is_sealed_again_by_reopen_and_blind_values_stay(cast: Cast) -> None:
    mine = opened(cast, "after_submit")
    label_all(mine, 1)
    mine = label.submit(actor=cast.ann, assignment=mine)
    reveal(mine, 2)
    mine = label.reopen(actor=cast.ann, assignment=mine)

    save(mine, change(2, -1, version=1))

    assert code_of(mine, 4) == "submit_first"
    assert kept(mine, 2) == (-1, 1, True)
    assert [one.message_index for one in revealed(actor=cast.ann, assignment=mine)] == [2]


def test_reveal_under_always_opens_everything_at_once(always_open: Assignment) -> None:
    assert [one.message_index for one in reveal(always_open, everything=True)] == [2, 4, 6, None]


def test_reveal_under_never_opens_nothing_not_even_after_submitting(cast: Cast) -> None:
    mine = opened(cast, "never")
    label_all(mine)

    assert code_of(mine, 2) == "sealed"
    mine = label.submit(actor=cast.ann, assignment=mine)
    assert code_of(mine, everything=True) == "sealed"
    assert not Exposure.objects.filter(user=cast.ann).exists()


def test_reveal_is_of_ones_own_active_assignment_only(cast: Cast, always_open: Assignment) -> None:
    with pytest.raises(Denied):
        label.reveal(actor=cast.ben, assignment=always_open, message_index=2)
    assign.return_assignment(actor=cast.ann, assignment=always_open, reason="tired")
    with pytest.raises(StaleState):
        reveal(always_open, 2)
    with pytest.raises(StaleState):
        revealed(actor=cast.ann, assignment=Assignment.objects.get(pk=always_open.pk))


@pytest.mark.parametrize(
    "asked",
    [{}, {"message_index": 3}, {"message_index": 2, "outcome": True}, {"outcome": True, "everything": True}],
)
def test_reveal_is_of_one_thing_and_not_of_a_message_that_is_no_step(
    cast: Cast, always_open: Assignment, asked: dict
) -> None:
    with pytest.raises(Invalid):
        label.reveal(actor=cast.ann, assignment=always_open, **asked)


# ── the blind value ───────────────────────
def test_blind_value_is_that_of_the_first_exposure_whatever_follows(mine: Assignment) -> None:
    save(mine, change(2, 1), change(None, 1))
    reveal(mine, 2)
    reveal(mine, outcome=True)

    save(mine, change(2, -1, version=1), change(None, -1, version=1))
    reveal(mine, 2)
    save(mine, change(2, 0, version=2))

    assert kept(mine, 2) == (0, 1, True)
    outcome = OutcomeLabel.objects.get(assignment=mine)
    assert (outcome.value, outcome.blind_value, outcome.exposed_at is not None) == (-1, 1, True)


def test_label_made_after_the_exposure_is_not_blind(always_open: Assignment) -> None:
    save(always_open, change(4, None, note="only a note"))
    reveal(always_open, everything=True)

    save(always_open, change(2, 1), change(4, 1, version=1), change(None, 1))

    seen_at = Exposure.objects.values_list("created_at", flat=True).get(step__message_index=2)
    assert Label.objects.get(step__message_index=2).exposed_at == seen_at
    assert kept(always_open, 2) == (1, None, True)
    assert kept(always_open, 4) == (1, None, True)
    assert OutcomeLabel.objects.get(assignment=always_open).exposed_at is not None


def test_label_that_was_made_first_stays_blind_under_always_too(always_open: Assignment) -> None:
    save(always_open, change(2, 0))
    reveal(always_open, everything=True)

    assert kept(always_open, 2) == (0, 0, True)


def test_reveal_does_not_touch_the_other_steps_and_the_other_annotator(cast: Cast, mine: Assignment) -> None:
    theirs = claim(cast.ben, cast.project)
    save(mine, change(2, 1), change(4, 1))
    save(theirs, change(2, 1))

    reveal(mine, 2)

    assert kept(mine, 4) == (1, None, False)
    assert kept(theirs, 2) == (1, None, False)


def test_agreement_is_made_of_blind_values_and_leaves_out_what_was_never_blind(cast: Cast) -> None:
    mine = opened(cast, steps=2)
    theirs = claim(cast.ben, cast.project)
    label_all(theirs, [1, -1], outcome=1)
    label.submit(actor=cast.ben, assignment=theirs)
    save(mine, change(2, 1), change(4, 1), change(None, 1))
    reveal(mine, 4)
    save(mine, change(4, -1, version=1))
    label.submit(actor=cast.ann, assignment=mine)

    steps = agreement(viewer=cast.admin, project=cast.project, intervals=False).overall.steps
    assert steps.n == 2
    assert steps.figures["percent_agreement"].value == 0.5

    set_policy(cast.project, "always")
    import_records(cast.project, [make_record(1, steps=2)], subset="more")
    ours = [claim(user, cast.project) for user in (cast.ann, cast.ben)]
    suggest(make_imported_judge(cast.project, "another"), ours[0].trajectory)
    for one in ours:
        reveal(one, everything=True)
        label_all(one, [1, 1], outcome=1)
        label.submit(actor=one.annotator, assignment=one)

    again = agreement(viewer=cast.admin, project=cast.project, intervals=False)
    assert again.overall.steps.n == 2, "no label of the second trajectory is blind"


def test_reveal_of_others_labels_keeps_ones_own_as_blind_values(cast: Cast, mine: Assignment) -> None:
    label_all(mine, 1)
    reveal(mine, 2)
    save(mine, change(2, -1, version=1))

    for _again in range(2):
        exposures.expose(user=cast.ann, trajectory=mine.trajectory, kind=ExposureKind.LABEL)

    assert kept(mine, 2) == (-1, 1, True), "the first exposure counts"
    assert kept(mine, 4) == (1, 1, True)
    assert OutcomeLabel.objects.get(assignment=mine).blind_value == 1
    assert Exposure.objects.filter(user=cast.ann, kind="label").count() == 1
    save(mine, change(4, 0, version=1))
    reveal(mine, 4)
    assert kept(mine, 4) == (0, 1, True), "the judges come second"


# ── what is noted ─────────────────────────
def test_reveal_is_in_the_history_once_with_what_was_shown_to_whom(cast: Cast, mine: Assignment) -> None:
    save(mine, change(2, 1))
    for _again in range(2):
        reveal(mine, 2)

    (event,) = LabelEvent.objects.filter(assignment=mine, kind="reveal")
    (judge,) = anonymised_order(mine.trajectory)
    assert event.step is not None
    assert (event.step.message_index, event.value, event.version) == (2, 1, 1)
    assert event.detail == {"outcome": False, "judges": [{"judge": judge, "value": -1}]}
    assert Exposure.objects.filter(user=cast.ann, kind="suggestion").count() == 1


def test_reveal_where_nothing_is_suggested_shows_and_notes_nothing(cast: Cast) -> None:
    (row,) = import_records(cast.project, 1)
    mine = claim(cast.ann, cast.project)
    save(mine, change(2, 1), change(4, 1))
    assert reveal(mine, 2)[0].suggestions == ()
    silent = make_imported_judge(cast.project)
    suggest(silent, row, [None, 1], outcome=None)

    (step,) = reveal(mine, 2)

    assert [(one.number, one.value, one.reason) for one in step.suggestions] == [(1, None, "")]
    assert not Exposure.objects.exists()
    assert kept(mine, 2) == (1, None, False)
    reveal(mine, 4)
    assert kept(mine, 4) == (1, 1, True)


def test_reveal_is_shown_again_and_nothing_else(cast: Cast, mine: Assignment) -> None:
    save(mine, change(2, 1), change(4, 1))
    assert revealed(actor=cast.ann, assignment=mine) == []

    first = reveal(mine, 4)

    assert revealed(actor=cast.ann, assignment=mine) == first


# ── judges by number ──────────────────────
def test_judges_are_numbered_by_task_the_same_for_everybody_and_every_run_of_it(cast: Cast) -> None:
    judges = [make_imported_judge(cast.project, f"judge-{number}") for number in range(3)]
    rows = import_records(
        cast.project, [make_record(query, sample) for query in range(12) for sample in (0, 1)]
    )
    for row in rows[::2]:
        for judge in judges:
            suggest(judge, row)
    orders: dict[int, list[tuple[int, ...]]] = {}
    for row in rows:
        orders.setdefault(row.task_id, []).append(tuple(anonymised_order(row)))

    assert len(orders) == 12
    assert all(first == second for first, second in orders.values())
    assert all(set(first) == {judge.pk for judge in judges} for first, _second in orders.values())
    assert len({first for first, _second in orders.values()}) > 1, "shuffled anew for each task"


def test_judge_without_a_suggestion_for_the_trajectory_keeps_its_number(cast: Cast) -> None:
    set_policy(cast.project, "always")
    one, other = import_records(cast.project, [make_record(0, 0), make_record(0, 1)])
    judges = [make_imported_judge(cast.project, name) for name in "ab"]
    for judge in judges:
        suggest(judge, one)
    suggest(judges[0], other)
    mine = assign.claim_this(actor=cast.ann, trajectory=other)

    step = reveal(mine, everything=True)[0]

    by_judge = {one.judge: one.value for one in step.suggestions}
    assert by_judge == {judges[0].pk: -1, judges[1].pk: None}
    assert [one.number for one in step.suggestions] == [1, 2]


# ── what is not to be changed any more ────
def test_reveal_before_a_stale_save_keeps_it_from_changing_anything(mine: Assignment) -> None:
    save(mine, change(2, 1))
    reveal(mine, 2)

    answer = save(mine, change(2, -1, version=0))

    assert answer["results"][0]["status"] == "stale"
    assert shown(answer, 2)["value"] == 1
    assert kept(mine, 2) == (1, 1, True)


def test_reveal_refusals_are_conflicts_but_under_never_a_denial(cast: Cast, mine: Assignment) -> None:
    with pytest.raises(Conflict):
        reveal(mine, 2)
    set_policy(cast.project, "never")
    with pytest.raises(Denied):
        reveal(mine, 2)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_reveal_and_a_save_at_once_lose_nothing_and_keep_the_value_from_before() -> None:
    cast = people.make_cast()
    mine = opened(cast, steps=2)
    save(mine, change(2, 1))
    for version in range(1, 5):
        results = together(
            lambda: reveal(mine, 2),
            lambda version=version: save(mine, change(2, -1 if version % 2 else 1, version=version)),
            lambda: reveal(mine, 2),
        )
        assert refused(results) == []
        value, blind, exposed = kept(mine, 2)
        assert value == (-1 if version % 2 else 1)
        event = LabelEvent.objects.get(assignment=mine, kind="reveal")
        assert (blind, exposed) == (event.value, True), "the blind value is what was stored before the reveal"
    assert Exposure.objects.filter(user=cast.ann, kind="suggestion").count() == 1


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_first_label_and_always_at_once_is_blind_exactly_if_it_came_first() -> None:
    cast = people.make_cast()
    mine = opened(cast, "always", steps=2)

    results = together(lambda: reveal(mine, everything=True), lambda: save(mine, change(2, 1)))

    assert refused(results) == []
    events = list(LabelEvent.objects.filter(step__message_index=2).values_list("kind", flat=True))
    blind = 1 if events == ["save", "reveal"] else None
    assert kept(mine, 2) == (1, blind, True)
