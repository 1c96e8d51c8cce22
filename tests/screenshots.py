"""`make screenshots`: the pictures of docs/screenshots, of the demo project as `make run` serves it.

Seven pages in light at 1440 px, one of them also narrow and dark. Each file stays below 250 kB: pictures
keep at most 256 colours.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.server import Server
from tests.browser.visitors import sign_in
from tests.chromium import FLAGS, Visitor, system_chromium
from tests.servers import ROOT

FOLDER = ROOT / "docs" / "screenshots"
MAX_BYTES = 250_000
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@dataclass(frozen=True)
class Picture:
    """One file: whose page, which one, what to do there first, and how it looks."""

    name: str
    user: str
    path: str
    act: Callable[[Page], Any] = lambda page: None
    size: dict[str, int] | None = None
    theme: Literal["light", "dark"] = "light"


def workbench(page: Page) -> None:
    """The draft of the demo, at its first proposal."""
    page.get_by_role("link", name="Continue").first.click()
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
    expect(page.locator("[data-role=save]")).to_have_text("All changes saved")
    page.wait_for_timeout(400)


def case(page: Page) -> None:
    """The dispute with the most to decide; taken, if it is not yet."""
    taken = page.get_by_role("link", name="Continue")
    if taken.count():
        taken.first.click()
    else:
        page.goto(page.url.partition("?")[0])
        page.get_by_role("row", name="outcome").get_by_role("button", name="Claim").first.click()
    expect(page.locator("html")).to_have_attribute("data-case", "ready")


PICTURES = (
    Picture("home", "lin", "/"),
    Picture("overview", "admin", "/p/demo/"),
    Picture("import", "admin", "/p/demo/import/"),
    Picture("workbench", "lin", "/p/demo/work/", workbench),
    Picture("workbench-dark", "lin", "/p/demo/work/", workbench, theme="dark"),
    Picture("workbench-narrow", "lin", "/p/demo/work/", workbench, size=NARROW),
    Picture("agreement", "admin", "/p/demo/agreement/"),
    Picture("adjudication", "ines", "/p/demo/adjudication/?tab=mine", case),
    Picture("release", "admin", "/p/demo/releases/0.2/"),
)


def take(browser: Browser, server: Server) -> list[Path]:
    """Make all pictures; the files that were written."""
    people: dict[str, Visitor] = {}
    written = []
    for picture in PICTURES:
        visitor = people.get(picture.user)
        if visitor is None:
            visitor = people[picture.user] = Visitor(browser.new_context(), server.url)
            sign_in(visitor, picture.user, server.accounts()[picture.user])
        page = visitor.page
        page.set_viewport_size(picture.size or WIDE)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=picture.theme, reduced_motion="reduce")
        visitor.go(picture.path)
        picture.act(page)
        written.append(save(picture.name, page.screenshot()))
    return written


def save(name: str, shot: bytes) -> Path:
    """Write one picture with few colours: pages have few, and git keeps every version."""
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    path = FOLDER / f"{name}.png"
    image.save(path, optimize=True)
    size = path.stat().st_size
    if size >= MAX_BYTES:
        raise SystemExit(f"{path.name} has {size} bytes; at most {MAX_BYTES} are wanted.")
    return path


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="tristep-screenshots-") as folder,
        sync_playwright() as playwright,
    ):
        path = system_chromium() or playwright.chromium.executable_path
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        server = Server(Path(folder) / "data")
        try:
            for written in take(browser, server.ready()):
                print(f"{written.stat().st_size:>8,} bytes  {written.relative_to(ROOT)}", file=sys.stderr)
        finally:
            browser.close()
            server.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
