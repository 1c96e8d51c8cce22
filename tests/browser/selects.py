"""The readability of chosen options in the lists of a page."""

from __future__ import annotations

from playwright.sync_api import Page

CUT = """() => {
  const probe = document.body.appendChild(document.createElement("span"));
  probe.style.position = "absolute";
  probe.style.whiteSpace = "pre";
  const cut = [];
  for (const list of document.querySelectorAll("select")) {
    const chosen = list.selectedOptions[0];
    if (!chosen || !list.checkVisibility()) continue;
    const style = getComputedStyle(list);
    probe.style.font = style.font;
    probe.textContent = chosen.text;
    const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const width = probe.getBoundingClientRect().width;
    if (width > room + 1) cut.push(`${list.name || list.dataset.role}: ${chosen.text} (${width} > ${room})`);
  }
  probe.remove();
  return cut;
}"""


def cut_choices(page: Page) -> list[str]:
    """The lists whose choice is wider than they are, as "name: choice"."""
    found: list[str] = page.evaluate(CUT)
    return found
