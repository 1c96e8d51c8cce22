"""Trajectories as admins read them: filters, and one with its labels; seeing labels is noted."""

from __future__ import annotations

from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Membership, Trajectory
from tests import people

HOSTILE = "<script>alert(1)</script>\x00\ud800<img src=x onerror=alert(2)>"


def test_trajectories_are_filtered_by_subset_state_model_and_words(browse, cast, at, text):
    people.import_records(cast.project, 2, subset="one", policy_models={0: "Model A"})
    people.import_records(cast.project, [people.make_record(7, question="Where is Ürümqi?")], subset="two")
    people.make_unanimous(cast)
    client, url = browse("admin"), at("trajectories", "bench")

    def found(query: str) -> int:
        return client.get(url + query).context["page"].paginator.count

    assert found("") == 3
    assert found("?subset=one") == 2
    assert found("?state=unanimous") == 1
    assert found("?model=Model+A") == 2
    assert found("?q=tiny:7") == 1
    assert found("?q=is+%C3%9Cr%C3%BCmqi") == 1
    assert found("?q=nothing") == 0
    assert "No trajectory fits" in text(client.get(url + "?q=nothing"))
    assert found("?subset=one&page=99") == 2
    assert client.get(url + "?q=%00").status_code == 400


def test_hostile_text_is_shown_and_does_nothing(browse, cast, at, text):
    record = people.make_record(0, question=HOSTILE)
    record["messages"][1]["content"] = HOSTILE
    record["messages"][2]["tool_calls"][0]["function"] = {"name": HOSTILE, "arguments": "{not json"}
    trajectory = people.import_records(cast.project, [record])[0]
    client = browse("admin")
    for url in (at("trajectories", "bench"), at("trajectory", "bench", trajectory.pk)):
        page = text(client.get(url))
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "␀" in page


def test_admin_sees_all_labels_with_names_and_that_is_noted(browse, cast, at, text):
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, [1, -1], note="A remark of Ann")
    page = text(browse("admin").get(at("trajectory", "bench", trajectory.pk)))
    assert "A remark of Ann" in page
    seen = Exposure.objects.get()
    assert (seen.user, seen.kind, seen.trajectory) == (cast.admin, ExposureKind.LABEL, trajectory)


def test_admin_who_also_labels_is_asked_before_labels_are_shown(browse, cast, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, note="A remark of Ann")
    client, url = browse("admin"), at("trajectory", "bench", trajectory.pk)
    page = text(client.get(url))
    assert "A remark of Ann" not in page
    assert "cannot claim this trajectory any more" in page
    assert not Exposure.objects.exists()
    assert client.post(url).url == url
    assert "A remark of Ann" in text(client.get(url))
    assert "nothing left" in text(client.post(at("claim", "bench"), follow=True))


def test_admin_who_is_labelling_it_sees_nobody_elses_labels(browse, cast, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project, note="A remark of Ann")
    people.claim(cast.admin, cast.project)
    client, url = browse("admin"), at("trajectory", "bench", trajectory.pk)
    for page in (text(client.get(url)), text(client.post(url, follow=True))):
        assert "A remark of Ann" not in page
        assert "You are labelling this trajectory yourself" in page
    assert not Exposure.objects.exists()


def test_trajectories_found_are_live_and_of_the_project(browse, cast, at):
    trajectory = people.import_records(cast.project, 1)[0]
    Trajectory.objects.update(live=False)
    assert browse("admin").get(at("trajectory", "bench", trajectory.pk)).status_code == 404
    other = people.import_records(people.make_project("other"), 1)[0]
    assert browse("admin").get(at("trajectory", "bench", other.pk)).status_code == 404


def test_annotators_and_adjudicators_do_not_browse(browse, cast, at):
    trajectory = people.import_records(cast.project, 1)[0]
    people.claim(cast.ann, cast.project)
    for who in ("ann", "judith"):
        assert browse(who).get(at("trajectory", "bench", trajectory.pk)).status_code == 403
