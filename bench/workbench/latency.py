"""Measure the workbench: on a trajectory of 95 steps the time from key to layout and to open, on one of 6 the
time to open and what goes over the wire.

Measured in the page: from the key event's own time stamp to the end of its handlers, style and layout, which
a listener behind all others forces. Nothing of it runs in the page that is shipped.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench import records
from bench.records import SEED
from bench.workbench.browser import Workbench, open_workbench

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STEPS = 95
MESSAGES = 200
SLUG = "bench-long"
SMALL_STEPS = 6
SMALL_SLUG = "bench-small"
LOADS = 5

# Key by key through the trajectory and back; every kind of key often enough for a percentile.
SCRIPT = (
    *["1", "1", "0", "1", "j", "j", "k", "x", "x", "n", "q", "f"] * 3,
    *["-", "u", "-", "r", "Enter", "1", "c", "u", "Shift+U", "n", "x"] * 4,
    *["-", "0", "1", "j", "k", "Enter"] * 6,
    *["j"] * 12,
    *["-", "Enter", "k", "Backspace", "u"] * 3,
    *["Shift+Digit1", "Shift+Digit0", "Shift+Minus"] * 2,
)

PROBE = """
(() => {
  const found = {keys: [], touched: [], later: [], changes: 0, ready: null};
  let started = 0;
  let handling = false;
  window.benchFound = found;
  window.addEventListener('keydown', (event) => {
    started = performance.now();
    found.touched = [];
    found.later = [];
    handling = true;
  }, true);
  window.addEventListener('keydown', (event) => {
    const handled = performance.now();
    document.body.offsetHeight;
    const end = performance.now();
    handling = false;
    found.keys.push({
      key: event.key, all: end - event.timeStamp, waited: started - event.timeStamp,
      handler: handled - started, layout: end - handled,
    });
  });
  const stepOf = (node) => {
    const element = node instanceof Element ? node : node.parentElement;
    return element ? element.closest('[data-step]') : null;
  };
  new MutationObserver((records) => {
    if (found.ready === null && document.documentElement.dataset.workbench === 'ready') {
      found.ready = performance.now();
    }
    if (found.ready === null) return;
    found.changes += records.length;
    // called between two listeners: what a handler did comes before the listener at the window
    const steps = handling ? found.touched : found.later;
    for (const record of records) {
      const step = stepOf(record.target);
      if (step && !steps.includes(step.dataset.step)) steps.push(step.dataset.step);
    }
  }).observe(document, {
    subtree: true, childList: true, characterData: true, attributes: true,
  });
})();
"""

# A page that has begun to work at something when it is idle goes on when it is idle again.
SETTLED = """async () => {
  for (let quiet = 0, seen = -1; quiet < 4; ) {
    await new Promise((done) => requestIdleCallback(done, {timeout: 1000}));
    quiet = benchFound.changes === seen ? quiet + 1 : 0;
    seen = benchFound.changes;
  }
}"""
PRESSED = "({last: benchFound.keys.at(-1), touched: benchFound.touched, later: benchFound.later})"


@dataclass
class Found:
    """Milliseconds by key; what the page took to load; what went over the wire; where it went wrong."""

    keys: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    small: list[float] = field(default_factory=list)
    sent: dict[str, float] = field(default_factory=dict)
    requests: int = 0
    problems: list[str] = field(default_factory=list)

    def all(self, part: str = "all") -> list[float]:
        """The times of every key press."""
        return [press[part] for presses in self.keys.values() for press in presses]


def record() -> dict[str, Any]:
    """The longest trajectory there is: 95 steps, 200 messages, JSON results of a search engine's size."""
    rng = random.Random(SEED)
    letters = "eeeeaaaiiootttnnsshrdlcumwfgyp"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(3000)]

    def text(count: int) -> str:
        return " ".join(rng.choices(words, k=count))

    messages: list[dict[str, Any]] = [
        {"role": "system", "content": text(120)},
        {"role": "user", "content": text(60)},
    ]
    turns = MESSAGES - 2 - 2 * STEPS + 1  # further messages of the user's
    every = STEPS // (turns + 1)
    for step in range(STEPS - 1):
        if step and step % every == 0 and turns:
            turns -= 1
            messages.append({"role": "user", "content": text(25)})
        arguments = json.dumps({"query": text(6), "limit": rng.randint(1, 9), "exact": step % 2 == 0})
        call = {"name": ("search", "book", "read_page")[step % 3], "arguments": arguments}
        messages.append(
            {
                "role": "assistant",
                "content": text(rng.randint(5, 60)) if step % 3 else "",
                "tool_calls": [{"id": f"call-{step}", "type": "function", "function": call}],
            }
        )
        rows = [
            {"id": n, "title": text(5), "text": text(rng.randint(20, 160)), "score": rng.random()}
            for n in range(rng.randint(1, 5))
        ]
        result = json.dumps({"ok": True, "total": len(rows), "results": rows})
        messages.append({"role": "tool", "tool_call_id": f"call-{step}", "content": result})
    messages.append({"role": "assistant", "content": text(80)})
    if len(messages) != MESSAGES:
        raise AssertionError(f"{len(messages)} messages")
    parameters = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}
    tools = [
        {"type": "function", "function": {"name": name, "description": text(30), "parameters": parameters}}
        for name in ("search", "book", "read_page")
    ]
    return {
        "total_index": 0,
        "query_index": 0,
        "sample_index": 0,
        "question": text(20),
        "data_source": "made_long",
        "ground_truth": {"target": [text(3)]},
        "answer_text": text(3),
        "messages": messages,
        "tool_metrics": {},
        "tools": tools,
    }


def small_record() -> dict[str, Any]:
    """The first of the records with 6 steps, or the first that has the most steps up to that."""

    def steps(record: dict[str, Any]) -> int:
        return sum(message["role"] == "assistant" for message in record["messages"])

    return max((record for record in records.records(50) if steps(record) <= SMALL_STEPS), key=steps)


def measure(browser: Browser, home: str, password: str) -> Found:
    """Open both several times, with and without a cache, then press every key of the script."""
    found = Found()
    addresses = [_claim(browser, home, password, slug) for slug in (SMALL_SLUG, SLUG)]
    for number in range(LOADS):
        small, long = addresses
        person = _arrive(browser, home, password)
        sizes = _listen(person)
        person.visitor.go(small)
        found.small.append(_ready(person))
        if not number:
            person.page.wait_for_load_state("networkidle")
            found.requests, found.sent = len(sizes), _by_kind(sizes)
        person.close()
        person = _arrive(browser, home, password)
        person.visitor.go(long)
        found.cold.append(_ready(person))
        person.visitor.go(long)
        found.warm.append(_ready(person))
        if number == LOADS - 1:
            _press_all(person, found)
        found.problems += person.complaints()
        person.close()
    return found


def _claim(browser: Browser, home: str, password: str, slug: str) -> str:
    """The path of the workbench on the one trajectory of this project."""
    person = open_workbench(browser, home)
    person.sign_in("ann", password)
    person.take_first(slug)
    address = urlsplit(person.page.url).path
    person.close()
    return address


def _arrive(browser: Browser, home: str, password: str) -> Workbench:
    """A signed-in person with an empty cache: files of the sign-in page are fetched again."""
    person = open_workbench(browser, home)
    person.page.add_init_script(PROBE)
    person.sign_in("ann", password)
    person.visitor.context.new_cdp_session(person.page).send("Network.clearBrowserCache")
    return person


def _ready(person: Workbench) -> float:
    person.ready()
    ready: float = person.page.evaluate("window.benchFound.ready")
    return ready


def _listen(person: Workbench) -> dict[str, tuple[str, float]]:
    """Kind and bytes over the wire, headers included, of each request as the browser counts them."""
    session = person.visitor.context.new_cdp_session(person.page)
    session.send("Network.enable")
    kinds: dict[str, str] = {}
    sizes: dict[str, tuple[str, float]] = {}

    def answered(event: dict[str, Any]) -> None:
        kinds[event["requestId"]] = event["type"]

    def finished(event: dict[str, Any]) -> None:
        kind = kinds.get(event["requestId"])
        if kind is not None:
            sizes[event["requestId"]] = kind, event["encodedDataLength"]

    session.on("Network.responseReceived", answered)
    session.on("Network.loadingFinished", finished)
    return sizes


def _by_kind(sizes: dict[str, tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for kind, size in sizes.values():
        found[kind] += size
    return dict(found)


def _press_all(person: Workbench, found: Found) -> None:
    """Press every key of the script. A label key may touch the step that it labels, the one that gets the
    focus, and those whose proposal changes; besides, a step may be completed once, when it comes near."""
    met: set[str] = set()
    for key in SCRIPT:
        person.page.evaluate(SETTLED)  # else the next key would be blamed for what this one left for later
        before = person.look()
        person.press(key)
        person.pause(30)
        state = person.page.evaluate(PRESSED)
        touched, later = set(state["touched"]), set(state["later"])
        found.keys[key].append(state["last"])
        if key in ("1", "0", "-"):
            after = person.look()
            was = {step.index: (step.says, step.focused) for step in before.steps}
            allowed = {str(before.steps[before.focus].index)} | {
                str(step.index) for step in after.steps if was.get(step.index) != (step.says, step.focused)
            }
            strange = sorted((touched | later & met) - allowed, key=int)
            if strange:
                found.problems.append(f"{key} on step {before.focus + 1} also touched messages {strange}")
        met |= touched | later
