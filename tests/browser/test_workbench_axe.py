"""axe-core finds nothing on the workbench, whatever state it is in."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Assignment
from annotation.services import label
from tests.browser.axe import NARROW, WIDE, violations
from tests.browser.selects import cut_choices
from tests.browser.workbench import acknowledged, click, intercept, note, press, ready
from tests.people import Cast, change, make_record, op_id

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ARABIC = (
    "\u0627\u0644\u062c\u0648\u0627\u0628 \u0647\u0648 \u0627\u0644\u0642\u0627\u0647\u0631\u0629 (Cairo)."
)


def tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": name, "description": f"To {name} things.", "parameters": schema},
    }


def every_kind() -> dict[str, Any]:
    """A record with each kind of message that reads in a way of its own."""
    text = {"type": "string", "description": "In words."}
    record = make_record(
        steps=7,
        tools=[tool("search", query=text), tool("open", url=text), tool("click"), tool("type", text=text)],
    )
    messages = record["messages"]
    messages[2]["content"] = (
        "**Bold**, a [link](https://example.org/a) and `code`:\n\n1. one\n2. two\n\n> said"
    )
    messages[3]["content"] = "\n".join(f"line {number}" for number in range(60))
    messages[4]["tool_calls"][0]["function"]["arguments"] = '{"query": broken'
    messages[5]["content"] = json.dumps({"error": "HTTP 500", "pages": [{"title": "One", "text": "a\nb"}]})
    messages[6]["tool_calls"][0]["function"]["arguments"] = json.dumps({"question": 5})
    messages[8]["tool_calls"][0]["function"] = messages[10]["tool_calls"][0]["function"]
    messages[9]["content"] = json.dumps([{"title": "Cairo", "passage": "The capital."}, {"title": "Giza"}])
    messages[-1]["content"] = ARABIC
    messages.insert(6, {"role": "user", "content": "And see https://example.org/b, please.\n\n" + ARABIC})
    messages.insert(7, {"role": "system", "content": "The state: " + json.dumps({"cart": []})})
    return record


def answering(status: int, message: str) -> Callable[[Route], None]:
    body = json.dumps({"error": {"code": "invalid", "message": message, "fields": {}, "details": None}})
    return lambda route: route.fulfill(status=status, content_type="application/json", body=body)


def labelled(page: Page) -> list[str]:
    """A root menu, proposals, a closing question, notes, flags, what is missing, and found words."""
    press(page, "1", "-", "-")
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        assert cut_choices(page) == []
    press(page, "1")
    expect(page.locator("[data-role=closing-reason]")).to_be_visible()
    press(page, "w", "b")
    press(page, "q", "f")
    note(page, "a note")
    click(page.get_by_role("button", name="Broken trajectory"))
    page.locator("[data-outcome]").get_by_role("button", name="Note").click()
    page.locator("#m2").focus()
    press(page, "Control+Enter")
    expect(page.locator("[data-role=missing-rest]")).to_be_visible()
    press(page, "/")
    page.keyboard.type("result")
    expect(page.locator("[data-role=find-count]")).to_contain_text("of")
    # as drawn, once, what test_colours.py computes from the style sheets
    return violations(page, contrast=True)


def read_closely(page: Page) -> list[str]:
    """Violations with everything opened that can be opened to read more."""
    press(page, "Escape", "v")
    page.locator("[data-role=tools] > summary").click()
    page.locator("[data-role=tools-find]").fill("open")
    page.locator(".tool:visible > summary").click()
    expect(page.locator("[data-source=raw]").first).to_be_visible()
    page.get_by_role("button", name="More for message 2", exact=True).click()
    expect(page.locator("#message-menu")).to_be_visible()
    found = violations(page)
    page.locator("#message-menu").get_by_role("button", name="As Markdown").click()
    expect(page.locator("[data-source=markdown]")).to_be_visible()
    page.locator("#m3 [data-unfold]").click()
    page.locator("[data-role=tools-find]").fill("zebra")
    page.get_by_role("link", name="Go to its call in message 2").focus()
    page.evaluate("scrollTo(0, 1e6)")
    expect(page.locator("[data-role=pin]")).to_be_visible()
    return found + violations(page)


def in_dialogs(page: Page) -> list[str]:
    found = []
    for key, name in (("?", "Keys"), ("g", "Guidelines, version 1")):
        press(page, key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        found += violations(page, "dialog[open]")
        press(page, "Escape")
    page.get_by_role("button", name="Return it…").click()
    intercept(page, "**/return/", answering(400, "The reason is too short."))
    page.get_by_label("Reason").last.fill("no")
    page.get_by_role("button", name="Return it", exact=True).click()
    expect(page.locator("[data-role=return-problem]")).to_have_text("The reason is too short.")
    found += violations(page, "dialog[open]")
    press(page, "Escape")
    return found


def in_trouble(page: Page, cast: Cast, assignment: Assignment) -> list[str]:
    """Violations with every trouble that saving can have."""
    elsewhere = change(14, 0)
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[elsewhere])
    click(page.locator("#m14 label.plus"))
    expect(page.locator("#m14 [data-role=problem]")).to_contain_text("+1 was not saved")
    other = page.context.new_page()
    other.goto(page.url)
    expect(page.locator("[data-role=elsewhere]")).to_be_visible()
    intercept(page, "**/marks/", answering(400, "The request cannot be read."))
    page.get_by_role("button", name="Needs discussion").click()
    expect(page.locator("[data-role=banner]")).to_contain_text("The request cannot be read.")
    found = violations(page)
    other.close()
    page.unroute("**/marks/")
    page.get_by_role("button", name="Needs discussion").click()
    acknowledged(page)
    return found


def on_a_phone(page: Page) -> list[str]:
    page.set_viewport_size(NARROW)
    page.reload()
    ready(page)
    page.locator("#m2").focus()
    press(page, *["1"] * page.locator("[data-step]").count())
    click(page.locator("[data-outcome] label.minus"))
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-role=missing]")).to_have_text("The outcome is −1, but no step is −1.")
    page.locator(".menu > summary").click()
    expect(page.get_by_role("button", name="Dark")).to_be_visible()
    return violations(page)


def submitted(page: Page) -> list[str]:
    address = page.url
    page.locator(".menu > summary").click()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/bench/work/**")
    page.set_viewport_size(WIDE)
    page.goto(address)
    expect(page.get_by_text("You have submitted this trajectory.")).to_be_visible()
    found = violations(page)
    page.goto(page.url.split("/assignments/")[0] + "/profile/")
    page.locator("#key-plus").fill("0")
    page.get_by_role("button", name="Save keys").click()
    expect(page.locator("#key-plus-note, #key-zero-note").first).to_be_visible()
    return found + violations(page, "main")


def test_axe_finds_nothing_in_any_state(bench: Callable, cast: Cast) -> None:
    page, assignment = bench(every_kind(), expected="400")
    found = [
        *(*labelled(page), *read_closely(page), *in_dialogs(page)),
        *(*in_trouble(page, cast, assignment), *on_a_phone(page), *submitted(page)),
    ]
    assert found == [], "\n".join(found)
