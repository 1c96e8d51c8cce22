"""Reading in a real browser: search, exact forms, Markdown, folds, the pinned message, tools."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.chromium import fits_the_window
from tests.people import make_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "\n".join(f"line {number}" for number in range(60))


def record(steps: int = 8) -> dict:
    made = make_record(steps=steps)
    made["messages"][3]["content"] = LONG + "\nneedle in the fold"
    made["messages"][5]["content"] = '{"rows": [{"id": 1, "text": "first\\nsecond"}], "note": "a needle"}'
    made["messages"][4]["content"] = "**bold** words with a needle, and <b>markup</b>"
    made["tools"] = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"About {name}",
                "parameters": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}},
                    "required": ["query"],
                },
            },
        }
        for name in ("search", "open_page", "calculate", "translate")
    ]
    return made


@pytest.fixture
def reading(bench: Callable) -> Callable[..., Page]:
    """`reading(record, **context)`: ann's workbench of a record."""
    return lambda made, **options: bench(made, **options)[0]


def test_what_a_search_finds_is_focused_shown_exactly_copied_and_read_as_markdown(reading) -> None:
    page = reading(record(), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Search in this trajectory").click()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("NEEDLE")
    count = page.locator('[data-role="find-count"]')
    expect(count).to_have_text("1 of 3")
    expect(page.locator("#m3 .text")).not_to_have_class("text text--code text--folded")
    for told in ("2 of 3", "3 of 3", "1 of 3"):
        page.keyboard.press("Enter")
        expect(count).to_have_text(told)
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("3 of 3")
    page.keyboard.press("Escape")
    expect(page.locator("#m4")).to_be_focused()
    expect(page.locator("#m3 [data-unfold]")).to_have_attribute("aria-expanded", "true")

    # its exact form, with its results, is one key away
    page.keyboard.press("v")
    exact = page.locator("#m5 .source__text")
    expect(exact.first).to_have_text('{"rows": [{"id": 1, "text": "first\\nsecond"}], "note": "a needle"}')
    expect(page.locator("#m4 > .msg__body > .source .source__title")).to_have_text(
        "Message 4, exactly as in the record"
    )
    page.keyboard.press("v")
    expect(page.locator(".source")).to_have_count(0)

    more = page.locator("#m4 > .step__head [data-message-menu]")
    more.click()
    history = page.get_by_role("link", name="History of this message")
    expect(history).to_have_attribute("href", re.compile(r"/history/\?step=4$"))
    page.get_by_role("button", name="Copy the text").click()
    expect(page.locator('[data-role="transcript-said"]')).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").startswith("**bold** words")
    more.click()
    page.get_by_role("button", name="As Markdown").click()
    expect(page.locator("#m4 .md strong")).to_have_text("bold")
    expect(page.locator("#m4 .md")).to_contain_text("<b>markup</b>")
    page.locator("#m4 .source__close").click()
    expect(page.locator("#m4 .md")).to_have_count(0)


def test_message_of_the_user_is_pinned_while_its_steps_are_read(reading) -> None:
    told = record()
    told["messages"][1]["content"] = "Search first, and answer with care.\n\nQuestion 0?"
    page = reading(told, viewport={"width": 390, "height": 844})
    pin = page.locator('[data-role="pin"]')
    expect(pin).to_be_hidden()
    page.locator('[data-goto="12"]').evaluate("link => link.click()")
    expect(pin).to_be_visible()
    # the question, and not what every record begins with
    words = pin.locator('[data-role="pin-text"]')
    expect(words).to_have_text("… Question 0?")
    pin.get_by_role("button").click()
    expect(words).to_have_text("Search first, and answer with care. Question 0?")
    expect(pin.get_by_role("button")).to_have_attribute("aria-expanded", "true")
    fits_the_window(page)
    box, head = pin.bounding_box(), page.locator("#m12 .step__head").bounding_box()
    assert box and head and head["y"] >= 52


def test_folds_that_were_opened_stay_open_and_tools_are_found(reading) -> None:
    page = reading(record())
    output = page.locator("#m3 .text")
    folded = output.bounding_box()["height"]
    page.keyboard.press("x")
    expect(page.locator("#m3 [data-unfold]")).to_have_attribute("aria-expanded", "true")
    assert output.bounding_box()["height"] > 2 * folded
    page.keyboard.press("x")
    page.get_by_role("button", name="Show all (61 lines, 488 characters)").click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#m3 [data-unfold]")).to_have_attribute("aria-expanded", "true")
    page.locator('[data-role="tools"] > summary').click()
    page.get_by_label("Search the tools").fill("calc")
    expect(page.locator(".tool:visible")).to_have_count(1)
    page.locator(".tool:visible > summary").click()
    expect(page.locator(".tool:visible")).to_contain_text("required")
    page.get_by_label("Search the tools").fill("nothing like it")
    expect(page.get_by_text("No matching tool.")).to_be_visible()
