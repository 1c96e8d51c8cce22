"""The workbench page: whose it is, what stands in it, and that hostile text stays text."""

import base64
import json
import re

import pytest
from django.urls import reverse

from annotation.core.errors import Denied, StaleState
from annotation.models import Assignment
from annotation.reports.shared.label_json import label_json
from annotation.reports.work.workbench import workbench
from annotation.services import assign, label, projects
from tests.callers import signed_in
from tests.frontend.every_page import WORKBENCH_QUERIES
from tests.people import change, claim, import_records, label_all, make_record, op_id, step_indexes

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR4nGP8z4APMOGVHbHSDEgAAGnxAQf+VQXcAAAAAElFTkSuQmCC"
)


def chat(*messages: dict) -> dict:
    """A record with these messages."""
    return make_record(messages=list(messages))


def user_says(content: object) -> dict:
    """One message of the user."""
    return {"role": "user", "content": content}


def url(assignment: Assignment) -> str:
    return reverse("frontend:workbench", args=[assignment.pk])


def state_of(response) -> dict:
    return response.context["state"]


def test_page_begins_with_what_saving_answers(cast) -> None:
    import_records(cast.project, [make_record(steps=3)])
    assignment = claim(cast.ann, cast.project)
    indexes = step_indexes(assignment.trajectory_id)
    saved = label.save_labels(
        actor=cast.ann,
        assignment=assignment,
        op_id=op_id(),
        changes=[
            change(indexes[0], -1, note="an odd \x00 note"),
            change(indexes[1], -1, source="propagated", root=indexes[0]),
            change(indexes[2], 1, closes="corrected", unsure=True),
            change(None, -1, flagged=True),
        ],
    )
    state = state_of(signed_in(cast.ann).get(url(assignment)))
    kept = [
        {**label_json(-1, None), **{k: v for k, v in step.items() if k not in ("ordinal", "after_user_turn")}}
        for step in state["steps"]
    ]
    assert kept[1:] == saved["labels"][1:]
    assert kept[0]["note"] == "an odd \x00 note"
    assert state["outcome"] == saved["outcome"]
    assert state["rules"] == {
        "suspend_on_user_turn": False,
        "carry_forward": False,
        "propagates": True,
        "others": False,
    }


def test_workbench_rules_are_the_projects_and_the_subsets(cast) -> None:
    import_records(cast.project, 1)
    projects.update_project(actor=cast.admin, project=cast.project, values={"carry_forward": True})
    projects.update_subset(actor=cast.admin, subset=cast.project.subsets.get(), suspend_on_user_turn=True)
    state = state_of(signed_in(cast.ann).get(url(claim(cast.ann, cast.project))))
    assert state["rules"] == {
        "suspend_on_user_turn": True,
        "carry_forward": True,
        "propagates": True,
        "others": False,
    }


def test_workbench_is_found_by_nobody_else(cast) -> None:
    import_records(cast.project, 1)
    assignment = claim(cast.ann, cast.project)
    for name, user in cast.everybody.items():
        assert signed_in(user).get(url(assignment)).status_code == (200 if name == "ann" else 404)
    assert signed_in(None).get(url(assignment)).status_code == 302
    with pytest.raises(Denied):
        workbench(actor=cast.ben, assignment=assignment)


def test_workbench_holds_nothing_of_the_other_annotators_work(cast) -> None:
    import_records(cast.project, 1)
    label_all(claim(cast.ben, cast.project), -1, outcome=-1, note="CANARY-OF-BEN")
    page = signed_in(cast.ann).get(url(claim(cast.ann, cast.project))).content.decode()
    # as a word: three letters in a row occur in a token too
    assert "CANARY-OF-BEN" not in page and not re.search(r"\bBen\b", page)


def test_workbench_once_submitted_is_there_to_read(cast) -> None:
    import_records(cast.project, 1)
    assignment = claim(cast.ann, cast.project)
    label_all(assignment)
    label.submit(actor=cast.ann, assignment=assignment)
    response = signed_in(cast.ann).get(url(assignment))
    assert response.status_code == 200 and state_of(response)["open"] is False
    assert b'data-action="submit"' not in response.content


def test_workbench_given_back_is_closed(cast) -> None:
    import_records(cast.project, 1)
    assignment = claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=assignment, reason="too long")
    assert signed_in(cast.ann).get(url(assignment)).status_code == 409
    assignment.refresh_from_db()
    with pytest.raises(StaleState, match="has been returned"):
        workbench(actor=cast.ann, assignment=assignment)


@pytest.mark.parametrize(("setting", "there"), [(True, True), (False, False)])
def test_reference_answer_is_sent_by_policy(cast, setting: bool, there: bool) -> None:
    import_records(cast.project, [make_record(ground_truth={"target": ["CANARY-TRUTH"]})])
    projects.update_project(actor=cast.admin, project=cast.project, values={"show_reference_answer": setting})
    page = signed_in(cast.ann).get(url(claim(cast.ann, cast.project)))
    assert (b"CANARY-TRUTH" in page.content) is there


@pytest.mark.parametrize("setting", [True, False])
def test_reward_hints_are_sent_by_policy(cast, setting: bool) -> None:
    import_records(cast.project, [make_record(reward_info={"reward": "CANARY-REWARD"})])
    projects.update_project(actor=cast.admin, project=cast.project, values={"show_reward_hints": setting})
    page = signed_in(cast.ann).get(url(claim(cast.ann, cast.project)))
    assert (b"CANARY-REWARD" in page.content) is setting


def test_labels_that_stood_in_the_file_are_not_in_it(cast) -> None:
    import_records(cast.project, [make_record(step_labels={"2": -1, "4": -1}, final_label=-1)])
    response = signed_in(cast.ann).get(url(claim(cast.ann, cast.project)))
    assert all("value" not in step for step in state_of(response)["steps"])
    assert b"final_label" not in response.content


HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7|add:7 }}" onclick="x'


def test_hostile_text_stays_text_everywhere(cast) -> None:
    call = {
        "id": HOSTILE,
        "type": "function",
        "function": {"name": HOSTILE, "arguments": json.dumps({HOSTILE: HOSTILE})},
    }
    record = make_record(
        question=HOSTILE,
        task_description={HOSTILE: HOSTILE},
        ground_truth={HOSTILE: [HOSTILE]},
        tools=[
            {
                "type": "function",
                "function": {"name": HOSTILE, "description": HOSTILE, "parameters": {HOSTILE: 1}},
            }
        ],
        messages=[
            {"role": "system", "content": HOSTILE},
            {"role": HOSTILE, "name": HOSTILE, "content": HOSTILE},
            {
                "role": "user",
                "name": HOSTILE,
                "content": [{"type": "text", "text": HOSTILE}, {HOSTILE: HOSTILE}],
            },
            {
                "role": "assistant",
                "content": HOSTILE,
                "tool_calls": [call, {"function": {"arguments": HOSTILE}}],
            },
            {
                "role": "tool",
                "tool_call_id": HOSTILE,
                "name": HOSTILE,
                "content": json.dumps({HOSTILE: HOSTILE}),
            },
            {"role": "tool", "tool_call_id": "?", "content": HOSTILE},
        ],
    )
    import_records(cast.project, [record])
    assignment = claim(cast.ann, cast.project)
    change_note = change(3, 1, note=HOSTILE)
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[change_note])
    whole = signed_in(cast.ann).get(url(assignment)).content.decode()
    page, data = re.subn(
        r'(?s)(<script id="workbench-state" type="application/json">)[^<]*(</script>)', r"\1\2", whole
    )
    assert data == 1  # and there is no "<" in it
    assert "<script>alert" not in page and "<img src=x" not in page and '" onclick' not in page
    assert page.count("&lt;script&gt;alert(1)") > 10
    assert page.count("</script>") == page.count("<script")


def test_nul_and_lone_surrogates_are_sent_as_visible_signs(cast) -> None:
    odd = "nul \x00 and half \ud83d"
    import_records(
        cast.project,
        [
            chat({"role": "user", "content": odd}, {"role": "assistant", "content": odd, "name": odd})
            | {"question": odd}
        ],
    )
    page = signed_in(cast.ann).get(url(claim(cast.ann, cast.project))).content.decode()
    assert page.count("nul ␀ and half \\ud83d") >= 3
    assert "\x00" not in page


def image(data: bytes, media_type: str = "image/png") -> dict:
    address = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": address}}


def test_images_come_from_us_and_only_to_those_who_may_see_the_trajectory(cast) -> None:
    parts = [{"type": "text", "text": "look"}, image(PNG)]
    import_records(cast.project, [chat(user_says(parts), {"role": "assistant", "content": "ok"})])
    assignment = claim(cast.ann, cast.project)
    address = reverse("frontend:trajectory-image", args=[assignment.trajectory_id, 0, 1])
    assert f'src="{address}"' in signed_in(cast.ann).get(url(assignment)).content.decode()
    answer = signed_in(cast.ann).get(address)
    assert (answer.status_code, answer["Content-Type"], answer.content) == (200, "image/png", PNG)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert signed_in(cast.ben).get(address).status_code == 404
    assert signed_in(None).get(address).status_code == 302
    for message, part in ((0, 0), (0, 9), (9, 0), (1, 0)):
        other = reverse("frontend:trajectory-image", args=[assignment.trajectory_id, message, part])
        assert signed_in(cast.ann).get(other).status_code == 404


def test_images_are_never_svg_or_remote(cast) -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>'
    remote = {"type": "image_url", "image_url": {"url": "https://example.com/track.png"}}
    parts = [image(svg, "image/svg+xml"), image(svg), remote]
    import_records(cast.project, [chat(user_says(parts), {"role": "assistant", "content": "ok"})])
    assignment = claim(cast.ann, cast.project)
    page = signed_in(cast.ann).get(url(assignment)).content.decode()
    assert "<img" not in page and "https://example.com/track.png" in page
    for part in range(3):
        address = reverse("frontend:trajectory-image", args=[assignment.trajectory_id, 0, part])
        assert signed_in(cast.ann).get(address).status_code == 404


@pytest.mark.parametrize("steps", [2, 40])
def test_workbench_queries_do_not_depend_on_the_trajectory(
    cast, django_assert_num_queries, steps: int
) -> None:
    import_records(cast.project, [make_record(steps=steps)])
    assignment = claim(cast.ann, cast.project)
    label_all(assignment)
    browser = signed_in(cast.ann)
    browser.get(url(assignment))
    with django_assert_num_queries(WORKBENCH_QUERIES):
        assert browser.get(url(assignment)).status_code == 200
