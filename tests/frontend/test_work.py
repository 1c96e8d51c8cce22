"""My work: claiming, continuing, taking up again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.vocabulary import AssignmentState, ExposureKind
from annotation.models import Assignment, Project, Trajectory
from annotation.reports.work import my_progress
from annotation.services import assign, exposures, label
from annotation.services.label.reopen import TOO_LATE
from tests import people


def test_claiming_leads_to_the_workbench_and_pressing_twice_gives_the_same_one(browse, cast, at):
    people.import_records(cast.project, 3)
    client = browse("ann")
    first = client.post(at("claim", "bench"), {"claim_key": "once"})
    assert first.url == at("workbench", Assignment.objects.get().pk)
    assert client.post(at("claim", "bench"), {"claim_key": "once"}).url == first.url
    assert Assignment.objects.count() == 1
    another = {"claim_key": "twice", "another": "1"}
    assert client.post(at("claim", "bench"), another).url != first.url


def test_claim_button_resumes_what_is_unfinished_and_seven_clicks_claim_one(browse, cast, at, text):
    people.import_records(cast.project, 9)
    client = browse("ann")
    assert "Label the next one" in text(client.get(at("work", "bench")))
    places = {client.post(at("claim", "bench"), {"claim_key": f"click-{n}"}).url for n in range(7)}
    assert places == {at("workbench", Assignment.objects.get().pk)}
    page = text(client.get(at("work", "bench")))
    assert "Continue labelling" in page
    assert "Label another one" in page


def test_claim_over_the_limit_leads_back_with_a_sentence(browse, cast, at, text):
    people.import_records(cast.project, 4)
    Project.objects.update(claim_limit=2)
    client = browse("ann")
    for number in range(2):
        client.post(at("claim", "bench"), {"claim_key": f"k{number}", "another": "1"})
    response = client.post(at("claim", "bench"), {"claim_key": "k3", "another": "1"}, follow=True)
    assert "as many as this project allows" in text(response)
    assert "Label another one" not in text(response)
    assert Assignment.objects.count() == 2


def test_claim_that_was_taken_back_stands_in_the_list_with_its_reason(browse, cast, at, text):
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    boss = browse("admin")
    assert str(mine.trajectory.record_id) in text(boss.get(at("claims", "bench")))
    asked = {"reason": "You are on leave", "chosen": mine.pk}
    taken = boss.post(at("claims-take-back", "bench"), asked, follow=True)
    assert "1 trajectory was taken back" in text(taken)
    assert "No unfinished work" in text(taken)

    client = browse("ann")
    for page in ("home", "project", "work"):
        place = at(page) if page == "home" else at(page, "bench")
        assert "1 trajectory of yours was taken back" in text(client.get(place)), page
    returned = text(client.get(at("work", "bench") + "?state=returned"))
    assert "An admin took it back." in returned
    assert "You are on leave" in returned
    assert client.post(at("resume", mine.pk)).url == at("workbench", mine.pk)
    assert "was taken back" not in text(client.get(at("work", "bench")))


def test_claim_that_is_unused_says_when_it_expires(browse, cast, at, text):
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    now = timezone.now()
    Assignment.objects.update(last_used_at=now - timedelta(days=12), warned_at=now)
    for who, page in (("ann", "home"), ("ann", "work"), ("admin", "claims")):
        place = at(page) if page == "home" else at(page, "bench")
        assert "expires" in text(browse(who).get(place)), page
    browse("ann").post(f"/api/v1/assignments/{mine.pk}/activity/", {"active_ms": 5}, "application/json")
    assert "expires" not in text(browse("ann").get(at("work", "bench")))


def test_claims_are_taken_back_by_admins_alone(browse, cast, at):
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    for name in ("claims-take-back", "cases-take-back"):
        assert browse("ann").post(at(name, "bench"), {"chosen": mine.pk}).status_code == 403
    assert browse("ann").get(at("claims", "bench")).status_code == 403
    # what admins hold themselves seals the others' claims of it
    people.make_member(cast.project, cast.admin, "admin", "annotator")
    own = people.claim(cast.admin, cast.project)
    assert own.trajectory == mine.trajectory
    url = at("claims-take-back", "bench")
    assert browse("admin").post(url, {"chosen": [own.pk, mine.pk]}).status_code == 404
    own.refresh_from_db()
    assert own.state == AssignmentState.OPEN


def test_claims_are_taken_back_together_and_what_was_submitted_meanwhile_is_named(browse, cast, at, text):
    people.import_records(cast.project, 2)
    held = [people.claim(user, cast.project) for user in (cast.ann, cast.ben)]
    people.label_all(held[0])
    label.submit(actor=cast.ann, assignment=held[0])
    boss, url = browse("admin"), at("claims-take-back", "bench") + "?sort=done"

    answer = boss.post(url, {"chosen": [row.pk for row in held]}, follow=True)

    assert answer.redirect_chain == [(at("claims", "bench") + "?sort=done", 302)]
    assert "1 trajectory was taken back; its draft is kept." in text(answer)
    refused = f"{held[0].trajectory.record_id}: This has already been submitted or returned."
    assert refused in text(answer)


def test_case_is_taken_back_from_its_adjudicator(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.make_disputed(cast)
    case = people.open_case(cast.judith, Trajectory.objects.get())
    boss = browse("admin")
    assert "Judith" in text(boss.get(at("claims", "bench") + "?tab=cases"))
    url, asked = at("cases-take-back", "bench") + "?tab=cases", {"chosen": case.pk}
    assert "1 case was taken back." in text(boss.post(url, asked, follow=True))
    again = text(boss.post(url, asked, follow=True))
    assert f"{case.trajectory.record_id}: This case is no longer open." in again


def test_account_is_closed_and_opened_on_the_people_page(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.claim(cast.ann, cast.project)
    root = browse("root")
    assert "ann closed" in text(root.post(at("account-state", cast.ann.pk), {"close": "1"}, follow=True))
    assert Assignment.objects.get().state == AssignmentState.EXPIRED
    assert "ann reopened" in text(root.post(at("account-state", cast.ann.pk), {"open": "1"}, follow=True))
    assert root.post(at("account-state", cast.root.pk), {"close": "1"}).status_code == 409


def test_claim_with_nothing_left_comes_back_with_a_sentence(browse, cast, at, text):
    response = browse("ann").post(at("claim", "bench"), follow=True)
    assert response.redirect_chain[0][0] == at("work", "bench")
    assert "There is nothing left for you to label" in text(response)


def test_tabs_show_what_is_open_submitted_and_returned(browse, cast, at, text):
    people.import_records(cast.project, 3)
    people.label_next(cast.ann, cast.project)
    back = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=back, reason="Broken messages")
    people.claim(cast.ann, cast.project)
    client = browse("ann")
    page = client.get(at("work", "bench"))
    tabs = page.context["list"].tabs
    assert [(name, count) for name, _title, count in tabs.tabs] == [
        ("open", 1),
        ("submitted", 1),
        ("returned", 1),
    ]
    assert "Broken messages" in text(client.get(at("work", "bench") + "?state=returned"))
    assert client.get(at("work", "bench") + "?state=nonsense").context["list"].tabs.present == "open"


def test_resume_takes_up_a_returned_trajectory_while_a_place_is_free(browse, cast, at):
    people.import_records(cast.project, 1)
    mine = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=mine, reason="Later")
    assert browse("ben").post(at("resume", mine.pk)).status_code == 404
    assert browse("ann").post(at("resume", mine.pk)).url == at("workbench", mine.pk)
    again = browse("ann").post(at("resume", mine.pk), follow=True)
    assert again.redirect_chain == [(f"{at('work', 'bench')}?state=returned", 302)]
    assert again.context["messages"]


def test_reopen_that_comes_too_late_leads_back_with_a_sentence_and_is_offered_no_more_once_one_knows(
    browse, cast, at, text
):
    people.import_records(cast.project, 1)
    mine = people.label_next(cast.ann, cast.project)
    people.label_next(cast.ben, cast.project)
    reopen, client = at("assignment-reopen", mine.pk), browse("ann")
    pages = (f"{at('work', 'bench')}?state=submitted", at("workbench", mine.pk))
    assert [reopen in text(client.get(page)) for page in pages] == [True, True]

    late = client.post(reopen, follow=True)

    assert (late.status_code, late.redirect_chain) == (200, [(pages[0], 302)])
    assert str(TOO_LATE) in text(late)
    exposures.expose(user=cast.ann, trajectory=mine.trajectory, kind=ExposureKind.LABEL)
    assert not any("Reopen" in text(client.get(page)) for page in pages)


def test_progress_counts_ones_own_work_and_tells_nothing_of_others(browse, cast, at, text):
    people.import_records(cast.project, 5)
    first = people.label_next(cast.ann, cast.project)
    second = people.claim(cast.ann, cast.project)
    for page in ("home", "work"):
        place = at(page) if page == "home" else at(page, "bench")
        assert "1 of 5 submitted by you" in text(browse("ann").get(place)), page
        before = browse("ann").get(place).content
        assert "0 of 5 submitted by you" in text(browse("ben").get(place)), page
    bench = browse("ann").get(at("workbench", second.pk)).content.decode()
    assert "1 of 5 submitted" in bench
    assert f'href="{at("workbench", first.pk)}"' in bench
    # whatever another annotator does to the others' trajectories, the page stays the same
    people.label_next(cast.ben, cast.project)
    people.label_next(cast.ben, cast.project, -1)
    assert without_keys(browse("ann").get(at("work", "bench")).content) == without_keys(before)


def without_keys(page: bytes) -> bytes:
    """A page without what is new in it every time it is asked for."""
    return re.sub(rb'(name="(csrfmiddlewaretoken|claim_key)" value=|nonce=)"[^"]*"', b"", page)


@pytest.mark.parametrize("retest", [0, 10])
def test_neighbours_are_ones_own_that_can_be_opened(browse, cast, at, retest):
    Project.objects.filter(pk=cast.project.pk).update(retest_percent=retest, retest_days=7)
    cast.project.refresh_from_db()
    people.import_records(cast.project, 6)
    mine = [people.label_next(cast.ann, cast.project) for _ in range(2)]
    back = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=back, reason="Later")
    people.claim(cast.ben, cast.project)
    mine.append(people.claim(cast.ann, cast.project))
    found = [my_progress.neighbours(one) for one in mine]
    keys = [one.pk for one in mine]
    assert [(one.previous, one.next) for one in found] == [
        (None, keys[1]),
        (keys[0], keys[2]),
        (keys[1], None),
    ]


def test_work_is_filtered_by_subset_and_record(browse, cast, at, text):
    people.import_records(cast.project, [people.make_record(n) for n in range(3)])
    people.import_records(cast.project, [people.make_record(7)], subset="second")
    for _ in range(4):
        people.label_next(cast.ann, cast.project)
    client = browse("ann")
    page = client.get(at("work", "bench") + "?state=submitted&subset=second")
    assert [row.trajectory.subset.name for row in page.context["page"]] == ["second"]
    record = page.context["page"][0].trajectory.record_id
    found = client.get(at("work", "bench") + f"?state=submitted&q={record}")
    assert [row.trajectory.record_id for row in found.context["page"]] == [record]
    nothing = text(client.get(at("work", "bench") + "?state=submitted&q=no-such-record"))
    assert "Nothing matches" in nothing
    assert 'name="state" value="submitted"' in nothing and "?state=submitted" in nothing
