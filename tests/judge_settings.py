"""`make settings`: the table of a judge's settings, written from their specification into docs/judges.md.

`tests/core/test_judge_settings.py` fails while docs/judges.md holds another table than the code gives.
"""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from annotation.core.judging import settings
from annotation.core.judging.setting_kinds import Setting

JUDGES: Final = Path(__file__).resolve().parents[1] / "docs" / "judges.md"
BEGIN: Final = "<!-- settings (make settings) -->"
END: Final = "<!-- end of settings -->"


def table() -> list[str]:
    """Lines of Markdown: a row for each setting, in the order of the form."""
    return [
        "| on the page | over the API | what it may be | default | fixed |",
        "|---|---|---|---|---|",
        *(row(one) for one in settings.SETTINGS),
    ]


def row(one: Setting) -> str:
    name = f"sampling.{one.name}" if one.sampling else one.name
    cells = [one.title, f"`{name}`", one.rule, default(one.default), "yes" if one.defining else "no"]
    return f"| {' | '.join(cells)} |"


def default(value: Any) -> str:
    if value in (None, ""):
        return "–"
    return f"`{value if isinstance(value, str | Decimal) else json.dumps(value)}`"


def with_table(text: str) -> str:
    """The text of docs/judges.md with the table as the specification gives it now.

    Raises ValueError when a marker is missing.
    """
    before, found_begin, rest = text.partition(BEGIN)
    _, found_end, after = rest.partition(END)
    if not (found_begin and found_end):
        raise ValueError("docs/judges.md lacks the markers of the table")
    return "\n".join((before + BEGIN, "", *table(), "", END)) + after


def main() -> int:
    now = JUDGES.read_text(encoding="utf-8")
    wanted = with_table(now)
    JUDGES.write_text(wanted, encoding="utf-8")
    state = "up to date" if now == wanted else "written anew"
    print(f"docs/judges.md: the table was {state}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
