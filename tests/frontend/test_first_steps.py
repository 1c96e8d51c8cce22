"""The list of first steps on an admin's overview: it ticks itself, and goes when done or closed."""

from __future__ import annotations

import re

from annotation.models import Assignment, AuditEvent, Membership
from annotation.services import projects
from tests import people
from tests.fixtures.judges import make_judge

ALL = ["guidelines", "imports", "members", "judges", "trajectories"]


def ticks(client, at, slug: str = "bench") -> list[bool] | None:
    """The state of each of the five steps, in order; None without a list."""
    page = client.get(at("project", slug)).content.decode()
    if 'aria-labelledby="first-steps"' not in page:
        return None
    listed = page.partition('<ol class="steps-list">')[2].partition("</ol>")[0]
    assert [at(name, slug) for name in ALL] == re.findall(r'<a href="([^"]+)"', listed)
    return ["(done)" in item for item in listed.split("</li>")[:5]]


def test_first_steps_tick_themselves_and_go_when_all_is_done(browse, cast, at, judge_urls):
    client = browse("admin")
    Membership.objects.filter(user__in=[cast.ben, cast.cleo]).update(is_annotator=False, is_adjudicator=True)
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="")
    assert ticks(client, at) == [False] * 5
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="Judge.")
    assert ticks(client, at) == [True, False, False, False, False]
    people.import_records(cast.project, 1)
    assert ticks(client, at) == [True, True, False, False, False]
    Membership.objects.filter(user=cast.ben).update(is_annotator=True)
    assert ticks(client, at) == [True, True, True, False, False]
    mine = people.claim(cast.ann, cast.project)
    assert ticks(client, at) == [True, True, True, False, False]
    make_judge(cast, "j")
    assert ticks(client, at) == [True, True, True, True, False]
    people.label_all(mine)
    assert ticks(client, at) is None
    assert Assignment.objects.get().submitted_at is None


def test_first_step_is_done_when_an_admin_has_opened_the_guidelines(browse, cast, at):
    Membership.objects.update(guideline_seen=0)
    client = browse("admin")
    assert ticks(client, at)[0] is False
    browse("ann").get(at("guidelines", "bench"))
    client.get(at("guidelines-edit", "bench"))
    assert ticks(client, at)[0] is False
    client.get(at("guidelines", "bench"))
    assert ticks(client, at)[0] is True
    assert Membership.objects.get(user=cast.ann).guideline_seen == 0


def test_first_steps_do_not_wait_for_a_judge(browse, cast, at):
    client = browse("admin")
    people.import_records(cast.project, 1)
    people.label_all(people.claim(cast.ann, cast.project))
    assert ticks(client, at) is None


def test_first_steps_are_closed_for_good_and_by_admins_only(browse, cast, at):
    for who in ("ann", "judith"):
        assert ticks(browse(who), at) is None
        assert browse(who).post(at("first-steps-close", "bench")).status_code == 403
    client = browse("admin")
    assert ticks(client, at) is not None
    assert client.post(at("first-steps-close", "bench")).url == at("project", "bench")
    client.post(at("first-steps-close", "bench"))
    assert ticks(client, at) is None
    assert AuditEvent.objects.filter(verb="project.close_checklist").count() == 1
