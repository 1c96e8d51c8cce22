"""The form of an item's options: a text for each, whether it is taken out, and room for new ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.core.decisions.editing import OptionChange
from annotation.core.decisions.record import MAX_OPTIONS
from annotation.language import translated
from annotation.reports.work.item_options import EditedOption, ItemOptions

SPARE: Final = 1
"""So many new options there is room for at first."""
KEYS: Final = {"": _("not said"), "1": _("right"), "-1": _("wrong")}
_BREAK: Final = re.compile(r"\r\n|\r|\n")
_FIELD: Final = re.compile(r"options\[(\d+)\]")


@dataclass(slots=True)
class OptionField:
    """An option in the form: one that is there, or a new one (`option` None). `problem`: what is wrong."""

    name: str
    option: EditedOption | None
    text: str
    out: bool = False
    key: str = ""
    problem: str = ""

    @property
    def key_name(self) -> str:
        """The name of the field of its key."""
        return self.name.replace("new-", "key-")

    @property
    def change(self) -> OptionChange | None:
        """The change to the option; None for one that is taken out, and for an empty place."""
        if self.option is None:
            key = int(self.key) if self.key in ("1", "-1") else None
            return OptionChange(text=self.text, key=key) if self.text.strip() else None
        if self.out:
            return None
        same = self.text == _typed(self.option.text)
        return OptionChange(self.option.index, None if same else self.text)


@dataclass(slots=True)
class OptionsForm:
    """The fields of an item, and sentences about the whole."""

    fields: list[OptionField]
    spare: int
    problems: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, item: ItemOptions, sent: QueryDict | None = None) -> OptionsForm:
        """The form as it begins, or as it was sent."""
        asked = "" if sent is None else sent.get("spare", "")
        spare = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 3 else SPARE
        spare = min(spare, MAX_OPTIONS)
        values: Mapping[str, str] = {} if sent is None else sent.dict()  # type: ignore[assignment]
        if "more" in values:
            spare += 1
        fields = [
            OptionField(
                f"option-{one.index}",
                one,
                values.get(f"option-{one.index}", _typed(one.text)),
                f"out-{one.index}" in values,
            )
            for one in item.options
        ]
        fields += [
            OptionField(f"new-{at}", None, values.get(f"new-{at}", ""), key=values.get(f"key-{at}", ""))
            for at in range(spare)
        ]
        return cls(fields, spare)

    def changes(self) -> list[OptionChange]:
        """The options as they shall be."""
        return [change for _field, change in self._kept()]

    def _kept(self) -> Iterator[tuple[OptionField, OptionChange]]:
        for one in self.fields:
            if (change := one.change) is not None:
                yield one, change

    def refuse(self, wrong: Mapping[str, str]) -> None:
        """Say what is wrong beside the fields."""
        kept = [one for one, _change in self._kept()]
        for name, reason in wrong.items():
            at = _FIELD.fullmatch(name)
            if at is not None and int(at[1]) < len(kept):
                kept[int(at[1])].problem = translated(reason)
            else:
                self.problems.append(translated(reason))


def _typed(text: str) -> str:
    """A text as a browser sends it back, which knows one line break and no NUL."""
    lines = _BREAK.sub("\r\n", text)
    return lines.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
