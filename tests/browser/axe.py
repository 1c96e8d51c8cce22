"""axe-core on a page as it stands, without its rule on contrast, which is over half of what it costs:
tests/frontend/test_colours.py computes that of every ink on every ground, in both themes."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

WIDE = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=390, height=844)
# What a narrow page folds away or lets scroll; everything else axe-core says of the wide one.
WHEN_NARROW = ("scrollable-region-focusable", "region", "aria-hidden-focus")
# Nothing moves, and what is far below the window (content-visibility) is looked at as well.
SETTLED = """async () => {
  for (const message of document.querySelectorAll(".msg")) message.style.contentVisibility = "visible";
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.allSettled(document.getAnimations().map((change) => change.finished));
}"""
RUN = """([within, rules, contrast]) => axe.run(within, {
  resultTypes: ["violations"],
  rules: {"color-contrast": {enabled: contrast}},
  ...rules.length && {runOnly: {type: "rule", values: rules}},
})"""


def violations(
    page: Page, within: str = "html", *, rules: tuple[str, ...] = (), contrast: bool = False
) -> list[str]:
    """The violations that axe-core finds on the page, or `within` a selector; and whether the page is too
    wide."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    page.evaluate(SETTLED)
    answer = page.evaluate(RUN, [within, rules, contrast])
    assert answer["passes"], "axe looked at nothing"
    found = []
    for violation in answer["violations"]:
        where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:4])
        why = violation["nodes"][0]["failureSummary"].replace("\n", " ")[:160]
        found.append(f"{violation['impact']} {violation['id']} at {where}: {why}")
    if (over := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
        found.append(f"{over} px too wide")
    return [f"{page.url}, {page.viewport_size}: {line}" for line in found]
