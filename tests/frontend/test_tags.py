"""Tags on trajectories: put on and taken off by admins, seen by them and in disputes, and by nobody else."""

from __future__ import annotations

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.models import AuditEvent, Membership, Tag, Trajectory, TrajectoryTag
from annotation.reports.work.tags import counted_tags, tags_of
from annotation.services import tags as service
from tests import people


@pytest.fixture
def rows(cast):
    """Three trajectories."""
    people.import_records(cast.project, 3)
    return list(cast.project.trajectories.order_by("record_id"))


@pytest.fixture
def put(cast):
    """Put a tag on trajectories."""

    def tag(name, *rows, actor=cast.admin):
        return service.tag(actor=actor, project=cast.project, trajectories=rows, name=name)

    return tag


def named(user, *rows):
    """The tags that a person sees, trajectory by trajectory."""
    seen = tags_of(user, rows)
    return [seen.get(row.pk, []) for row in rows]


@pytest.mark.postgres
def test_tag_is_put_on_chosen_trajectories_filtered_by_and_taken_off(browse, rows, at, text):
    client, url, chosen = browse("admin"), at("trajectories", "bench"), at("trajectories-tag", "bench")
    assert 'id="tag"' not in text(client.get(url)) and "get the tag" in text(client.get(url))
    keys = [rows[0].pk, rows[1].pk]
    sent = {"chosen": keys, "act": "tag", "name": "  Off\x00 topic "}
    done = client.post(f"{chosen}?sort=-record", sent, follow=True)
    assert done.redirect_chain[0][0] == f"{url}?sort=-record"
    assert "2 trajectories got the tag." in text(done)
    assert text(done).count('<span class="badge badge--outline badge--tag">Off topic</span>') == 2
    found = client.get(f"{url}?tag=Off+topic")
    assert text(found).count('id="tag"') == 1
    assert {row.pk for row in found.context["page"]} == set(keys)
    assert "There is no tag “b”." in text(client.get(f"{url}?tag=b"))
    csv = b"".join(client.get(at("trajectories-export", "bench")).streaming_content).decode()
    assert csv.count("Off topic") == 2
    again = client.post(chosen, {"chosen": [*keys, rows[2].pk], "name": "OFF TOPIC"}, follow=True)
    assert "1 trajectory got the tag." in text(again) and "The tag is there already." in text(again)
    assert Tag.objects.get().name == "Off topic"
    gone = client.post(chosen, {"chosen": keys, "act": "untag", "name": "off topic"}, follow=True)
    assert "2 trajectories lost the tag." in text(gone)
    assert [row.trajectory_id for row in TrajectoryTag.objects.all()] == [rows[2].pk]
    for name, reason in (("", "Type a name."), ("x" * 41, "under 41 characters")):
        assert reason in text(client.post(chosen, {"chosen": keys, "name": name}, follow=True))
    log = AuditEvent.objects.filter(verb__in=("trajectory.tag", "trajectory.untag"))
    assert log.count() == 5 and all(event.detail == {} for event in log)


def test_tag_is_put_on_a_trajectory_on_its_page(browse, rows, at, text):
    client, row = browse("admin"), rows[0]
    page, url = at("trajectory", "bench", row.pk), at("trajectory-tag", "bench", row.pk)
    assert client.post(url, {"tag": "<b>bold</b>"}).url == page
    shown = text(client.get(page))
    assert '?tag=%3Cb%3Ebold%3C%2Fb%3E">&lt;b&gt;bold&lt;/b&gt;</a>' in shown and "<b>bold" not in shown
    client.post(url, {"untag": "<b>bold</b>"})
    assert not TrajectoryTag.objects.exists()
    assert "The tag is not there." in text(client.post(url, {"untag": "<b>bold</b>"}, follow=True))


@pytest.mark.postgres
def test_tags_are_renamed_merged_and_deleted(browse, cast, rows, put, at, text):
    client, page = browse("admin"), at("tags", "bench")
    assert "No tags yet" in text(client.get(page))
    put("one", *rows[:2])
    put("two", *rows[1:])
    put("two", rows[0], actor=cast.root)
    one, two = Tag.objects.order_by("key")
    assert [(row.name, row.trajectories) for row in counted_tags(cast.admin, cast.project)] == [
        ("one", 2),
        ("two", 3),
    ]
    client.post(at("tag-rename", "bench", one.pk), {"name": "ONE"})
    assert Tag.objects.get(pk=one.pk).name == "ONE"
    said = client.post(at("tag-rename", "bench", one.pk), {"name": "Two"}, follow=True)
    assert "The two tags are one now: “two”." in text(said)
    assert Tag.objects.get() == two
    assert named(cast.admin, *rows) == [["two"]] * 3
    with pytest.raises(Conflict):
        service.rename_tag(actor=cast.admin, row=one, name="three")
    client.post(at("tag-delete", "bench", two.pk))
    assert not TrajectoryTag.objects.exists()


def test_tag_is_never_sent_to_annotators_and_to_adjudicators_in_disputes_only(
    browse, cast, rows, put, at, text
):
    put("narwhal", *rows)
    people.make_disputed(cast)
    case = cast.project.trajectories.get(state="disputed")
    ann = people.claim(cast.ann, cast.project)
    for url in (at("workbench", ann.pk), at("work", "bench"), at("project", "bench"), at("palette")):
        assert "narwhal" not in text(browse("ann").get(url))
    assert named(cast.ann, *rows) == [[]] * 3
    assert named(cast.judith, *rows) == [["narwhal"] if row == case else [] for row in rows]
    mine = people.open_case(cast.judith, case)
    assert "narwhal" in text(browse("judith").get(at("adjudication", mine.pk)))
    with pytest.raises(Denied):
        put("mine", case, actor=cast.judith)


@pytest.mark.postgres
def test_admin_who_labels_sees_only_their_own_tags_until_it_can_tell_nothing(
    browse, cast, rows, put, at, text
):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    put("ann is wrong", *rows, actor=cast.root)
    put("mine", rows[0])
    assert named(cast.admin, *rows) == [["mine"], [], []]
    client, url = browse("admin"), at("trajectories", "bench")
    assert list(client.get(f"{url}?tag=ann+is+wrong").context["page"]) == []
    assert "ann is wrong</a>" not in text(client.get(at("trajectory", "bench", rows[1].pk)))
    assert [row.trajectories for row in counted_tags(cast.admin, cast.project)] == [0, 3 - 2]
    # nor is it told by what happens to their own
    assert put("Ann is wrong", rows[1]).refused == []
    service.untag(actor=cast.admin, project=cast.project, trajectories=rows[1:2], name="ann is wrong")
    assert TrajectoryTag.objects.filter(trajectory=rows[1]).get().added_by == cast.root
    labelled = people.label_next(cast.admin, cast.project)
    assert "ann is wrong" not in named(cast.admin, labelled.trajectory)[0]
    people.label_next(cast.ann, cast.project)
    assert "ann is wrong" in named(cast.admin, Trajectory.objects.get(pk=labelled.trajectory_id))[0]


def test_tags_have_a_limit(put, rows, monkeypatch):
    monkeypatch.setattr(service, "MAX_TAGS", 1)
    put("one", rows[0])
    put("ONE", rows[1])
    with pytest.raises(Invalid, match="There are 1 tags already"):
        put("two", rows[0])
