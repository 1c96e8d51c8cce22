"""axe-core finds nothing on the workbench, whatever state it is in, in light and in dark."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, ViewportSize, expect

from annotation.models import Assignment
from annotation.services import label
from tests.browser.selects import cut_choices
from tests.browser.workbench import open_as_ann, press, saved, seen
from tests.people import Cast, change, claim, import_records, label_all, make_record, op_id

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

WIDE = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=390, height=844)
# Everything of these is said again in the dark: the other rules do not look at colours.
COLOURS = ["color-contrast", "link-in-text-block"]
# What is far below the window (content-visibility) is looked at as well.
EVERYTHING = """async () => {
  for (const message of document.querySelectorAll(".msg")) message.style.contentVisibility = "visible";
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
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


class Looker:
    """Looks at the page as it is, and remembers what axe-core says of it under the state's name."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: list[str] = []

    def at(self, state: str, *, dark: bool = True) -> None:
        """In light by every rule, in dark by those about colours; and nothing may stand out at the side.

        `dark` False: what has colours here has been looked at in the dark already.
        """
        page = self.page
        if not page.evaluate("'axe' in window"):
            page.evaluate(Axe().axe_script)
        page.evaluate(EVERYTHING)
        for scheme, rules in (("light", None), ("dark", COLOURS))[: 1 + dark]:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
            answer = page.evaluate(
                "(options) => axe.run(document, options)", {"resultTypes": ["violations"], **only}
            )
            assert answer["passes"], "axe looked at nothing"
            for one in answer["violations"]:
                where = "; ".join(" ".join(map(str, node["target"])) for node in one["nodes"][:4])
                why = one["nodes"][0]["failureSummary"].replace("\n", " ")[:160]
                self.found.append(f"{state}, {scheme}: {one['impact']} {one['id']} at {where}: {why}")
        page.emulate_media(color_scheme="light")
        if (over := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
            self.found.append(f"{state}: {over} px too wide")


def answering(status: int, message: str) -> Callable[[Route], None]:
    body = json.dumps({"error": {"code": "invalid", "message": message, "fields": {}, "details": None}})
    return lambda route: route.fulfill(status=status, content_type="application/json", body=body)


def reading(page: Page, look: Looker) -> None:
    """Everything that can be opened to read more."""
    press(page, "/")
    page.keyboard.type("result")
    expect(page.locator("[data-role=find-count]")).to_contain_text("of")
    look.at("search with hits")
    press(page, "Escape", "v")
    page.locator("[data-role=tools] > summary").click()
    page.locator("[data-role=tools-find]").fill("open")
    page.locator(".tool:visible > summary").click()
    expect(page.locator("[data-source=raw]").first).to_be_visible()
    page.get_by_role("button", name="More for message 2", exact=True).click()
    look.at("raw messages, tools with search, message menu")
    page.locator("#message-menu").get_by_role("button", name="As Markdown").click()
    expect(page.locator("[data-source=markdown]")).to_be_visible()
    page.locator("#m3 [data-unfold]").click()
    page.locator("[data-role=tools-find]").fill("zebra")
    look.at("Markdown, output opened, no tool fits", dark=False)
    page.get_by_role("link", name="Go to its call in message 2").focus()
    page.evaluate("scrollTo(0, 1e6)")
    look.at("the user's message pinned")


def talking(page: Page, look: Looker) -> None:
    """The dialogs."""
    for key, name in (("?", "Keys"), ("g", "Guidelines, version 1")):
        press(page, key)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        look.at(f"dialog {name}", dark=key == "?")
        press(page, "Escape")
    page.get_by_role("button", name="Return it…").click()
    page.route("**/return/", answering(400, "The reason is too short."))
    page.get_by_label("Reason").last.fill("no")
    page.get_by_role("button", name="Return it", exact=True).click()
    expect(page.locator("[data-role=return-problem]")).to_have_text("The reason is too short.")
    look.at("return dialog, refused")
    press(page, "Escape")


def in_trouble(page: Page, look: Looker, cast: Cast, assignment: Assignment) -> None:
    """Whatever can go wrong with saving."""
    troubles: list[tuple[str, Callable[[Route], None]]] = [
        ("offline", lambda route: route.abort()),
        ("failed", answering(400, "The request cannot be read.")),
    ]
    for status, answer in troubles:
        page.route("**/labels/", answer)
        press(page, "q")
        expect(page.locator("[data-role=save]")).to_have_attribute("data-status", status)
        look.at(status, dark=status == "offline")
        page.unroute("**/labels/")
    press(page, "q")
    saved(page)
    newest = assignment.labels.get(step__message_index=4).version
    elsewhere = change(4, 0, version=newest)
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[elsewhere])
    page.locator("#m4 label.plus").click()
    expect(page.locator("#m4 [data-role=problem]")).to_contain_text("+1 was not saved")
    other = page.context.new_page()
    other.goto(page.url)
    expect(page.locator("[data-role=elsewhere]")).to_be_visible()
    look.at("conflict, open in another window too")
    other.close()


def test_axe_finds_nothing_in_any_state(bench: Callable, cast: Cast) -> None:
    page, assignment = bench(every_kind(), viewport=WIDE, reduced_motion="reduce", expected="ERR_FAILED|400")
    look = Looker(page)
    saved(page)
    look.at("fresh")
    press(page, "1", "-", "-")
    look.at("partly labelled, proposals, a root menu")
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        assert cut_choices(page) == []
    press(page, "1")
    expect(page.locator("[data-role=closing-reason]")).to_be_visible()
    page.locator("#m4").get_by_label("Reason").select_option(index=1)
    press(page, "q", "f", "m")
    page.keyboard.type("a note")
    page.get_by_role("button", name="Broken trajectory").click()
    look.at("closing question, unsure, flag, note, broken")
    page.locator("[data-outcome]").get_by_role("button", name="Note").click()
    page.locator("#m2").focus()
    press(page, "Control+Enter")
    expect(page.locator("[data-role=missing-rest]")).to_be_visible()
    look.at("submit with missing steps, note on the outcome")
    reading(page, look)
    talking(page, look)
    in_trouble(page, look, cast, assignment)
    page.set_viewport_size(NARROW)
    page.reload()
    seen(page)
    page.locator(".menu > summary").click()
    look.at("opened on a phone, account menu")
    page.locator(".menu > summary").click()
    page.locator("#m2").focus()
    press(page, *["1"] * page.locator("[data-step]").count())
    page.locator("[data-outcome] label.minus").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-role=missing]")).to_have_text("The outcome is −1, but no step is −1.")
    look.at("the odd outcome, on a phone")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/bench/work/**")
    page.set_viewport_size(WIDE)
    page.go_back()
    page.goto(page.url.split("/p/")[0].split("/assignments/")[0] + f"/assignments/{assignment.pk}/")
    expect(page.get_by_text("You have submitted this trajectory.")).to_be_visible()
    look.at("submitted")
    page.get_by_role("button", name="Reopen").click()
    expect(page.locator(".desk__submit")).to_be_visible()
    saved(page)
    look.at("reopened", dark=False)
    page.goto(page.url.split("/assignments/")[0] + "/profile/")
    page.locator("#key-plus").fill("0")
    page.get_by_role("button", name="Save keys").click()
    expect(page.locator("#key-plus-error, #key-zero-error").first).to_be_visible()
    look.at("a key of one's own, refused")
    assert look.found == [], "\n".join(look.found)


def test_axe_finds_nothing_on_ninety_five_steps(visit: Callable, cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=95)])
    assignment = claim(cast.ann, cast.project)
    label_all(assignment, [1 if index % 3 else -1 for index in range(95)])
    page = open_as_ann(visit, cast, assignment, viewport=WIDE, reduced_motion="reduce")
    saved(page)
    page.evaluate(Axe().axe_script)
    # colours are looked at above, on every kind of step; here names, ids and landmarks could collide
    rules = {rule: {"enabled": False} for rule in COLOURS}
    answer = page.evaluate("(rules) => axe.run(document, {rules})", rules)
    assert len(answer["passes"]) > 20
    assert [(one["id"], one["nodes"][0]["target"]) for one in answer["violations"]] == []
