"""Make the prompts of a release: look through its records once for what is drawn, and again for what is
written."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, Final

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.jsonio.plain_text import json_text
from annotation.core.judging.tokens import units
from annotation.core.releases.exports.asked import AskedQuestion, NotAsked, asked_question
from annotation.core.releases.exports.split import TEST, TRAIN, task_of, test_tasks

from .drawing import Drawn, Group, Place, draw, examples_for, group_of
from .prompts import AskedPrompt, example_room, prompt_of, written
from .settings import PromptSettings

NAMED: Final = 50
"""So many of the questions that are too long are named."""

Record = Mapping[str, Any]
Read = Callable[[Collection[int] | None], Iterable[tuple[int, Record]]]
"""Gives records with their ordinals, in order: all of them (None), or these."""


class Mark(IntFlag):
    """Marks of a question in a set of prompts."""

    TEST = 1
    CUT = 2
    TOO_LONG = 4


ANY: Final = Mark(0)
"""No mark, which every question has."""


@dataclass(slots=True)
class Marked:
    """The questions of a release by ordinal, in order, each with its marks."""

    marks: dict[int, Mark] = field(default_factory=dict)

    def having(self, wanted: Mark) -> list[int]:
        """The ordinals of those with a prompt that have all these marks."""
        return [at for at, mark in self.marks.items() if wanted in mark and Mark.TOO_LONG not in mark]

    def packed(self) -> bytes:
        """As bytes, to be stored."""
        ordinals, marks = array("I", self.marks), bytes(self.marks.values())
        if array("I", [1]).tobytes()[0] != 1:
            ordinals.byteswap()
        return zlib.compress(ordinals.tobytes() + marks)

    @classmethod
    def unpacked(cls, data: bytes) -> Marked:
        """The inverse of `packed`."""
        raw = zlib.decompress(data)
        size = len(raw) // 5
        ordinals = array("I", raw[: 4 * size])
        if array("I", [1]).tobytes()[0] != 1:
            ordinals.byteswap()
        return cls(dict(zip(ordinals, map(Mark, raw[4 * size :]), strict=True)))


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A prompt of a release, and what it asks. `prompt` is None where it does not fit."""

    ordinal: int
    asked: AskedQuestion
    mark: Mark
    prompt: AskedPrompt | None

    def row(self) -> dict[str, Any]:
        """The line of the file of prompts, which says nothing of what is right."""
        assert self.prompt is not None
        return {
            "record_id": self.asked.record_id,
            "uuid": self.asked.uuid,
            "subset": self.asked.subset,
            "kind": str(self.asked.kind),
            "language": self.asked.language,
            "split": TEST if Mark.TEST in self.mark else TRAIN,
            "shots": self.prompt.shots,
            "cut": self.prompt.cut,
            "prompt": self.prompt.text,
        }


def line_bytes(line: PromptLine) -> bytes:
    """The line as it stands in the file; none for a question that does not fit."""
    return b"" if line.prompt is None else json_text(line.row()).encode() + b"\n"


class PromptMaking:
    """The prompts of the records that `read` gives, each time the same ones: with the `drawn` examples and
    the `marked` questions of a set that was made, or as `look` finds them."""

    def __init__(
        self,
        read: Read,
        settings: PromptSettings,
        *,
        drawn: Mapping[Group, tuple[Drawn, ...]] | None = None,
        marked: Marked | None = None,
    ) -> None:
        self._read = read
        self._settings = settings
        self.drawn = dict(drawn or {})
        self.marked = marked or Marked()
        self.not_asked: Counter[NotAsked] = Counter()

    def look(self) -> None:
        """Look through all records: which questions there are, which are tested, and which are examples.
        Raises Conflict when there are none."""
        tasks: dict[str, set[str]] = defaultdict(set)
        places: list[Place] = []
        for ordinal, record in self._read(None):
            tasks[record["subset"]].add(task_of(record))
            asked = asked_question(record)
            if isinstance(asked, NotAsked):
                self.not_asked[asked] += 1
                continue
            size = units(written(record, asked, self._settings).example) if self._settings.shots else 0
            places.append(Place(ordinal, group_of(asked), asked.record_id, asked.task, size))
        if not places:
            raise Conflict(
                translatable("This release has no question that can be asked."), code="no_questions"
            )
        tested = test_tasks(tasks, self._settings.split, self._settings.seed)
        self.marked = Marked(
            {place.ordinal: Mark.TEST if place.task in tested else Mark(0) for place in places}
        )
        self.drawn = draw(
            places,
            tested,
            shots=self._settings.shots,
            seed=self._settings.seed,
            room=example_room(self._settings),
        )

    def lines(self, ordinals: Collection[int] | None = None) -> Iterator[PromptLine]:
        """The line of every question, or of these; of each it is noted whether it was cut or does not fit."""
        examples = dict(self._examples())
        for ordinal, record in self._read(ordinals):
            if ordinal not in self.marked.marks:
                continue
            asked = asked_question(record)
            assert isinstance(asked, AskedQuestion)
            question = written(record, asked, self._settings)
            prompt = prompt_of(question, self.drawn.get(question.group, ()), examples, self._settings)
            mark = self.marked.marks[ordinal] & Mark.TEST
            if prompt is None:
                mark |= Mark.TOO_LONG
            elif prompt.cut:
                mark |= Mark.CUT
            self.marked.marks[ordinal] = mark
            yield PromptLine(ordinal, asked, mark, prompt)

    def shown(self, asked: AskedQuestion) -> tuple[Drawn, ...]:
        """The examples in the prompt of a question."""
        drawn = self.drawn.get(group_of(asked), ())
        return tuple(examples_for(asked.task, drawn, self._settings.shots))

    def _examples(self) -> Iterator[tuple[int, str]]:
        ordinals = sorted({one.ordinal for drawn in self.drawn.values() for one in drawn})
        for ordinal, record in self._read(ordinals) if ordinals else ():
            asked = asked_question(record)
            assert isinstance(asked, AskedQuestion)
            yield ordinal, written(record, asked, self._settings).example


@dataclass(slots=True)
class PromptCounts:
    """Counts of a set of prompts, and the digest of its file."""

    groups: dict[Group, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    too_long: list[tuple[str, str]] = field(default_factory=list)
    most_tokens: int = 0
    test_tokens: int = 0
    _digest: Any = field(default_factory=hashlib.sha256)

    def add(self, line: PromptLine, shots: int) -> None:
        """Count a line, of a set that asks for so many examples."""
        counts = self.groups[group_of(line.asked)]
        tested = Mark.TEST in line.mark
        if line.prompt is None:
            counts["too_long"] += 1
            if len(self.too_long) < NAMED:
                self.too_long.append((line.asked.subset, line.asked.record_id))
            return
        counts[TEST if tested else TRAIN] += 1
        counts["cut"] += line.prompt.cut > 0
        counts["fewer_shots"] += line.prompt.shots < shots
        self.most_tokens = max(self.most_tokens, line.prompt.tokens)
        self.test_tokens += line.prompt.tokens if tested else 0
        self._digest.update(line_bytes(line))

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return str(self._digest.hexdigest())

    def as_json(self, making: PromptMaking) -> dict[str, Any]:
        """The counts as they are kept."""
        total: Counter[str] = sum(self.groups.values(), Counter())
        return {
            **{name: total[name] for name in (TEST, TRAIN, "cut", "too_long", "fewer_shots")},
            "not_asked": {str(why): n for why, n in sorted(making.not_asked.items())},
            "most_tokens": self.most_tokens,
            "test_tokens": self.test_tokens,
            "groups": [
                {
                    "subset": group.subset,
                    "kind": str(group.kind),
                    "language": group.language,
                    **{name: counts[name] for name in (TEST, TRAIN, "cut", "too_long", "fewer_shots")},
                }
                for group, counts in sorted(self.groups.items())
            ],
            "too_long_named": [list(one) for one in self.too_long],
        }
