"""Trajectories are hostile: they are shown exactly, and nothing in them does anything."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.policies import OPERATOR
from annotation.services import projects, release
from tests.browser.stored import eventually, labels_of
from tests.browser.visitors import session_of
from tests.browser.workbench import note, press
from tests.chromium import Visitor
from tests.people import Cast, claim, import_file, jsonl, label_next, make_cast, make_member, make_user
from tests.people import open_case as take_case

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EVIL = "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>&amp;</div></textarea>"
BROKEN = '{"q": "<b>unclosed", '
TEMPLATE = "{{ 7 * 7 }}{% csrf_token %}${alert(1)}"


def png() -> bytes:
    """A red dot: the smallest honest PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    header = b"\0\0\0\1\0\0\0\1\x08\2\0\0\0"
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + chunk(b"IEND", b"")
    )


def data_uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


HARM = b"window.harmed=1"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='%b'><script>%b</script></svg>" % (HARM, HARM)


def picture(address: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": address}}


def hostile_record() -> dict[str, Any]:
    """Something evil in every field there is."""
    call = {"id": "c1", "type": "function", "function": {"name": EVIL, "arguments": BROKEN}}
    fine = {
        "id": "c2",
        "type": "function",
        "function": {"name": "search", "arguments": json.dumps({EVIL: EVIL})},
    }
    return {
        "query_index": 0,
        "sample_index": 0,
        "question": EVIL,
        "data_source": "evil<script>",
        "ground_truth": {EVIL: EVIL},
        "answer_text": EVIL,
        "task_description": {"<b>": TEMPLATE},
        "messages": [
            {"role": "system", "content": f"{EVIL}<style>*{{display:none!important}}</style>"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": EVIL},
                    picture(data_uri("image/png", png())),
                    picture(data_uri("image/svg+xml", SVG)),
                    picture(data_uri("image/png", SVG)),
                    picture("https://evil.example/spy.png"),
                ],
            },
            {
                "role": "assistant",
                "content": f"NUL \0 and half a pair \ud83d end {TEMPLATE}",
                "tool_calls": [call, fine],
            },
            {"role": "tool", "tool_call_id": "c1", "content": EVIL},
            {"role": "tool", "tool_call_id": "c2", "content": f"![x](https://evil.example/a.png) {TEMPLATE}"},
            {"role": "tool", "tool_call_id": "nobody's", "content": "a result without its call"},
            {"role": EVIL, "content": "javascript:window.harmed=1 \u202eegral"},
            {"role": "assistant", "content": EVIL},
        ],
        "tools": [
            {"type": "function", "function": {"name": EVIL, "description": EVIL, "parameters": {EVIL: 1}}}
        ],
    }


@pytest.fixture
def evil_cast(live_server: object) -> Cast:
    """A project with the hostile trajectory, and evil in everything that people write themselves."""
    cast = make_cast()
    projects.update_project(
        actor=OPERATOR,
        project=cast.project,
        values={"name": EVIL[:120], "description": EVIL, "show_reward_hints": True},
    )
    written = projects.write_guidelines(
        actor=OPERATOR,
        project=cast.project,
        text=f"# Rules\n\n{EVIL}\n\n![spy](https://evil.example/b.png) [go](javascript:window.harmed=1)",
    )
    for annotator in (cast.ann, cast.ben, cast.cleo):
        projects.read_guidelines(actor=annotator, guideline=written)
    import_file(cast.project, jsonl([hostile_record()]), filename=f"{EVIL[:60]}.jsonl", subset="evil")
    return cast


def watched(visitor: Visitor) -> Page:
    """Any dialog is a harm done; so is a complaint, which `visit` looks for at the end."""
    visitor.page.on("dialog", lambda dialog: visitor.watch.complaints.append(f"dialog: {dialog.message}"))
    return visitor.page


def assert_harmless(page: Page) -> None:
    """Check that nothing ran, nothing came in, and every image is ours."""
    assert page.evaluate("typeof window.harmed") == "undefined"
    bodies = page.locator("script:not([src]):not([type='application/json'])")
    assert bodies.count() == 0, bodies.all_inner_texts()
    assert page.locator("body style, [onerror], [onload], [style]").count() == 0
    addresses = page.locator("img").evaluate_all("images => images.map((image) => new URL(image.src).host)")
    assert set(addresses) <= {page.evaluate("location.host")}


def texts(page: Page) -> list[str]:
    """Every piece of a trajectory that is shown, exactly."""
    return page.locator(".text").evaluate_all("pieces => pieces.map((piece) => piece.textContent)")


def only_real_images(visitor: Visitor, stranger: Visitor) -> None:
    """Images are ours, and none is shown that is not one, or to a stranger."""
    images = visitor.page.locator("img.picture")
    expect(images).to_have_count(1)
    expect(images.first).to_have_js_property("naturalWidth", 1)
    answer = visitor.context.request.get(visitor.home + images.first.get_attribute("src"))
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.body() == png()
    address = re.sub(r"\d+/$", "", images.first.get_attribute("src") or "")
    for part in (0, 2, 3, 4, 99):
        refused = visitor.context.request.get(f"{visitor.home}{address}{part}/")
        assert refused.status in (400, 404)
        assert refused.headers["content-type"].startswith("text/html")
    assert stranger.context.request.get(visitor.home + images.first.get_attribute("src")).status == 404


def test_hostile_trajectory_is_shown_exactly_and_does_nothing(
    evil_cast: Cast, visit: Callable[..., Visitor]
) -> None:
    cast = evil_cast
    assignment = claim(cast.ann, cast.project)
    visitor = session_of(visit(), cast.ann)
    page = watched(visitor)
    visitor.go(f"/assignments/{assignment.pk}/")
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
    pieces = texts(page)
    assert pieces.count(EVIL) >= 4  # question, user, result, last step
    assert BROKEN in pieces
    assert f"NUL ␀ and half a pair \\ud83d end {TEMPLATE}" in pieces
    assert f"![x](https://evil.example/a.png) {TEMPLATE}" in pieces
    assert "javascript:window.harmed=1 \\u202eegral" in pieces
    assert any("https://evil.example/spy.png" in piece for piece in pieces)
    assert any("image/svg+xml" in piece for piece in pieces)
    expect(page.locator(".call__name").first).to_have_text(EVIL)
    expect(page.get_by_text("arguments are not valid JSON")).to_be_visible()
    expect(page.get_by_text("no matching call")).to_be_visible()
    assert "evil.example" not in "".join(
        page.locator("img, a").evaluate_all("all => all.map((x) => x.src ?? x.href)")
    )
    assert_harmless(page)
    only_real_images(visitor, session_of(visit(), cast.oscar))

    page.locator(".step").first.focus()
    press(page, "-")
    note(page, EVIL)
    eventually(lambda: labels_of(assignment, "note")[-1], (EVIL,))
    assert_harmless(page)
    page.get_by_role("button", name="Guidelines").click()
    expect(page.locator(".prose")).to_contain_text("<script>window.harmed = 1</script>")
    assert_harmless(page)


def test_hostile_words_of_people_are_harmless_on_every_page_that_shows_them(
    evil_cast: Cast, visit: Callable[..., Visitor]
) -> None:
    cast = evil_cast
    mallory = make_user("mallory")
    mallory.display_name = EVIL[:120]
    mallory.save(update_fields=["display_name"])
    make_member(cast.project, mallory, "annotator")
    for user, value in ((cast.ann, 1), (mallory, -1)):
        assignment = label_next(user, cast.project, value, outcome=1, note=EVIL)
    case = take_case(cast.judith, assignment.trajectory)

    judge = session_of(visit(), cast.judith)
    page = watched(judge)
    judge.go(f"/adjudications/{case.pk}/")
    expect(page.locator(".annotator-labels__note").first).to_have_text(EVIL)
    assert_harmless(page)
    page.locator(".step textarea[name=note]").first.fill(EVIL)
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("[data-said]").first).to_have_text("decided")
    page.keyboard.press("1")
    expect(page.locator("[data-said]").nth(1)).to_have_text("decided")
    page.get_by_role("button", name="Finish the case").click()
    expect(page.get_by_text("Case decided")).to_be_visible()
    judge.go(f"/adjudications/{case.pk}/")
    assert EVIL in page.locator(".annotator-labels__note").all_text_contents()
    assert_harmless(page)

    release.freeze(actor=cast.admin, project=cast.project, version="1.0", note=EVIL)
    admin = session_of(visit(), cast.admin)
    page = watched(admin)
    home = f"/p/{cast.project.slug}/"
    names = ("", "members/", "import/", "trajectories/", "agreement/", "releases/", "releases/1.0/", "audit/")
    for path in ("/", "/projects/", *(home + name for name in names), f"{home}guidelines/"):
        admin.go(path)
        expect(page.locator("h1")).to_be_visible()
        assert_harmless(page)
    for listing in ("trajectories/", "import/"):
        admin.go(home + listing)
        page.locator("tbody a").first.click()
        page.wait_for_url(re.compile(rf"/{listing}\d+/"))
        assert_harmless(page)
