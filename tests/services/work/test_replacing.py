"""Replacing an item by one with other options: what ends, what carries over, and what refuses it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.core.decisions.editing import OptionChange, decision_of, edited_options
from annotation.core.decisions.record import Option
from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    Consensus,
    Dispute,
    Exposure,
    ImportFile,
    Label,
    Notice,
    PairedLabels,
    Trajectory,
    TrajectoryTag,
)
from annotation.policies import OPERATOR, visible
from annotation.policies.replacing import why_not_replace
from annotation.reports.work.item_options import item_options
from annotation.services import assign, label, release, tags
from annotation.services.replace import edit_options, replace_options
from tests import people
from tests.fixtures.judges_first import import_keyed
from tests.people import Cast
from tests.services.auditing import begin
from tests.services.publishing import freeze

pytestmark = pytest.mark.django_db


@pytest.fixture
def asking() -> Cast:
    """The cast around a project of decisions that nobody has labelled."""
    return people.make_cast(kind="decisions")


def changed(item: Trajectory, *changes: OptionChange) -> list[Option]:
    decision = decision_of(item.content.raw_bytes())
    assert decision is not None
    options = edited_options(decision, changes)
    assert isinstance(options, list)
    return options


def kept(item: Trajectory, *added: str) -> list[Option]:
    """All options of an item, and others of these texts."""
    stay = [OptionChange(step) for step in people.step_indexes(item)]
    return changed(item, *stay, *(OptionChange(text=text, key=-1) for text in added))


def labelled(cast: Cast, item: Trajectory, *values: tuple[int, ...]) -> None:
    for user, said in zip((cast.ann, cast.ben), values, strict=False):
        mine = assign.claim_this(actor=user, trajectory=item)
        people.label_all(mine, list(said), outcome=1)
        label.submit(actor=user, assignment=mine)
    item.refresh_from_db()


@pytest.mark.postgres
def test_replacing_ends_what_was_said_and_keeps_who_the_item_is(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)
    labelled(asking, item, (1, -1, -1), (-1, -1, 1))
    case = people.open_case(asking.judith, item)
    tags.tag(actor=asking.admin, project=asking.project, name="hard", trajectories=[item])
    told = item_options(trajectory=item, viewer=asking.judith)
    assert (told.submitted, told.open, told.left, told.needed) == (2, 0, 3, 2)

    new = replace_options(actor=asking.judith, trajectory=item, options=kept(item, "Another one."))

    before, after = (json.loads(row.content.raw_bytes()) for row in (item, new))
    assert {**after, "options": None} == {**before, "options": None}
    assert [one for one in after["options"] if one["origin"] == "file"] == before["options"]
    assert [one for one in after["options"] if one["origin"] != "file"] == [
        {
            "message": {"role": "assistant", "content": "Another one."},
            "key": -1,
            "origin": "written",
            "source": {},
            "reason": "",
        }
    ]
    assert (new.record_id, new.task_id, new.position) == (item.record_id, item.task_id, item.position)
    assert (new.state, new.free_slots, new.step_count, new.live) == ("labelling", 2, 4, True)
    item.refresh_from_db()
    assert (item.live, item.state) == (False, "labelling")
    assert not visible(asking.admin, Trajectory.objects.filter(pk=item.pk)).exists()
    turns = Assignment.objects.filter(trajectory=item)
    assert set(turns.values_list("state", "expiry_reason")) == {("expired", "replaced")}
    assert Label.objects.filter(assignment__in=turns).count() == 6
    case.refresh_from_db()
    assert case.state == "released"
    for gone in (Dispute, Consensus, PairedLabels):
        assert not gone._default_manager.filter(trajectory=item).exists()
    assert set(Notice.objects.values_list("user__username", "kind")) == {
        ("ann", "claim_ended"),
        ("ben", "claim_ended"),
    }
    assert TrajectoryTag.objects.get().trajectory == new
    assert set(Exposure.objects.filter(trajectory=new).values_list("user__username", "kind")) == {
        ("judith", "label")
    }
    event = AuditEvent.objects.get(verb="item.replace")
    assert (event.actor, event.object_id) == (asking.judith, str(new.pk))
    assert event.detail == {"replaced": item.pk, "options": 4, "ended": 2}

    # it is labelled anew, and its case may be hers again
    labelled(asking, new, (1, -1, -1, 1), (-1, -1, 1, 1))
    assert people.open_case(asking.judith, new).trajectory == new


@pytest.mark.parametrize("state", ["unanimous", "adjudicated", "open"])
def test_replacing_takes_back_what_was_settled(asking: Cast, state: str) -> None:
    (item,) = import_keyed(asking.project, 1)
    if state == "open":
        assign.claim_this(actor=asking.ann, trajectory=item)
    else:
        other = (1, -1, -1) if state == "unanimous" else (-1, 1, 1)
        labelled(asking, item, (1, -1, -1), other)
    if state == "adjudicated":
        case = people.make_adjudicated(asking, item)
        item.refresh_from_db()
        assert item.state == state
    new = replace_options(actor=asking.admin, trajectory=item, options=kept(item, "More."))

    assert (new.state, new.free_slots) == ("labelling", 2)
    assert not Consensus.objects.filter(trajectory=item).exists()
    assert not Assignment.objects.filter(trajectory=item).exclude(state="expired").exists()
    if state == "adjudicated":
        case.refresh_from_db()
        assert case.state == "released"
        assert case.events.filter(kind="erasure").count() == 4
    mine = Assignment.objects.get(trajectory=item, annotator=asking.ann)
    with pytest.raises(StaleState) as refusal:
        assign.resume_assignment(actor=asking.ann, assignment=mine)
    assert refusal.value.code == "replaced"
    assert assign.claim_next(actor=asking.ann, project=asking.project).trajectory == new


def test_replacing_carries_over_who_must_not_label_it(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)
    Exposure.objects.create(
        user=asking.ann, trajectory=item, kind="source", created_at=item.project.created_at
    )
    first, second, _ = item.steps.all()
    for step in (first, second):
        Exposure.objects.create(
            user=asking.ben, trajectory=item, step=step, kind="suggestion", created_at=item.project.created_at
        )
    stay = [OptionChange(step) for step in people.step_indexes(item)]
    options = changed(item, *stay[1:], OptionChange(first.message_index, text="Said otherwise."))
    people.make_member(asking.project, asking.admin, "admin", "annotator")
    new = replace_options(actor=asking.admin, trajectory=item, options=options)

    for user in (asking.ann, asking.admin):
        with pytest.raises(Conflict):
            assign.claim_next(actor=user, project=asking.project)
    seen = Exposure.objects.get(trajectory=new, kind="suggestion")
    assert seen.step is not None
    before, after = (row.content.parsed()["messages"] for row in (item, new))
    assert after[seen.step.message_index] == before[second.message_index]


def test_releases_keep_what_was_frozen(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)
    labelled(asking, item, (1, -1, -1), (1, -1, -1))
    made = freeze(asking.project)
    record = made.records.get()
    replace_options(actor=OPERATOR, trajectory=item, options=kept(item, "Later."))

    assert made.records.get().sha256 == record.sha256
    assert release.verify(actor=OPERATOR, release=made).ok
    with pytest.raises(Invalid):  # nothing is resolved any more
        freeze(asking.project, "1.1")


def test_the_same_file_again_changes_nothing_of_an_edited_item(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)
    new = replace_options(actor=asking.admin, trajectory=item, options=kept(item, "Later."))
    raw = item.content.raw_bytes() + b"\n"

    again = people.import_file(asking.project, raw, format="tristep_decision", subset=item.subset.name)

    assert (again.unchanged_count, again.created_count, again.replaced_count) == (1, 0, 0)
    assert Trajectory.objects.get(live=True) == new
    replaced = people.import_file(
        asking.project, raw, format="tristep_decision", subset=item.subset.name, replace=True
    )
    assert replaced.replaced_count == 1


def test_replacing_is_refused(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)

    def refused(error: type[Exception], actor: Any, options: list[Option]) -> Any:
        with pytest.raises(error) as refusal:
            replace_options(actor=actor, trajectory=item, options=options)
        assert Trajectory.objects.get(live=True).pk == item.pk
        return refusal.value

    for user in (asking.ann, asking.oscar, asking.judith):  # she has no case of it
        refused(Denied, user, kept(item, "More."))
        assert why_not_replace(user, item) is not None
    same = kept(item)[0].message["content"]
    assert refused(Invalid, asking.admin, kept(item, f" {same}")).fields.keys() == {"options[3]"}
    assert refused(Invalid, asking.admin, kept(item, " ")).fields.keys() == {"options[3]"}
    assert refused(Invalid, asking.admin, kept(item)[:1]).fields.keys() == {"options"}
    people.make_member(asking.project, asking.admin, "admin", "annotator")
    mine = assign.claim_this(actor=asking.admin, trajectory=item)
    assert refused(Denied, asking.admin, kept(item, "More.")).code == "labelling"
    assign.return_assignment(actor=asking.admin, assignment=mine, reason="Later.")

    assert replace_options(actor=asking.admin, trajectory=item, options=kept(item)) == item
    assert ImportFile.objects.filter(format="edited").count() == 0
    replace_options(actor=asking.admin, trajectory=item, options=kept(item, "More."))
    with pytest.raises(StaleState) as gone:
        replace_options(actor=asking.admin, trajectory=item, options=kept(item, "Less."))
    assert gone.value.code == "replaced"


def test_editing_says_of_how_many_people_the_work_ends(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)
    labelled(asking, item, (1, -1, -1))
    changes = [*(OptionChange(step) for step in people.step_indexes(item)), OptionChange(text="More.", key=1)]
    with pytest.raises(StaleState) as refusal:
        edit_options(actor=asking.admin, trajectory=item, changes=changes, ends=0)
    assert refusal.value.code == "more_ends"
    with pytest.raises(Invalid):
        edit_options(actor=asking.admin, trajectory=item, changes=[*changes, changes[0]], ends=1)

    new = edit_options(actor=asking.admin, trajectory=item, changes=changes, ends=1)
    assert new.step_count == 4
    assert {label.value for label in new.content.labels_of_source() if label.name == "key"} == {1, -1}


def test_replacing_waits_for_the_end_of_an_audit(asking: Cast) -> None:
    (item,) = import_keyed(asking.project, 1)
    labelled(asking, item, (1, -1, -1), (1, -1, -1))
    begin(asking)
    with pytest.raises(Conflict) as refusal:
        replace_options(actor=asking.admin, trajectory=item, options=kept(item, "More."))
    assert refusal.value.code == "audited"
    assert not Adjudication.objects.exists()
