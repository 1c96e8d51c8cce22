"""axe-core on a page as it stands, without its rule on contrast, which is over half of what it costs:
tests/frontend/test_colours.py computes that of every ink on every ground, in both themes."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

from tests.browser.frames import FRAME, KEPT

WIDE = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=390, height=844)
# What a narrow page folds away or lets scroll; everything else axe-core says of the wide one.
WHEN_NARROW = ("scrollable-region-focusable", "region", "aria-hidden-focus")
# Nothing moves, and what is far below the window (content-visibility) is looked at as well.
SETTLED = f"""async () => {{{FRAME}{KEPT}
  for (const message of document.querySelectorAll(".msg")) message.style.contentVisibility = "visible";
  await frame();
  await frame();
  const changes = document.getAnimations().map((change) => change.finished);
  await kept(Promise.allSettled(changes), "something goes on moving");
}}"""
# Nothing here plays, so what it would play is not fetched; and only what is said here goes to the test.
RUN = """async ([within, rules, contrast]) => {
  const answer = await axe.run(within, {
    resultTypes: ["violations"],
    preload: false,
    rules: {"color-contrast": {enabled: contrast}},
    ...rules.length && {runOnly: {type: "rule", values: rules}},
  });
  const said = ({impact, id, nodes}) => {
    const where = nodes.slice(0, 4).map((node) => node.target.join(" ")).join("; ");
    return `${impact} ${id} at ${where}: ${nodes[0].failureSummary.replaceAll("\\n", " ").slice(0, 160)}`;
  };
  const root = document.documentElement;
  return {
    rules: answer.passes.length + answer.violations.length,
    violations: answer.violations.map(said),
    over: root.scrollWidth - innerWidth,
  };
}"""


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
    assert answer["rules"], "axe looked at nothing"
    found: list[str] = answer["violations"]
    if answer["over"] > 0:
        found.append(f"{answer['over']} px too wide")
    return [f"{page.url}, {page.viewport_size}: {line}" for line in found]
