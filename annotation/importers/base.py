"""The protocol of an importer, and the context it reads in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from annotation.core.jsonio.jsonlines import MAX_RECORD_BYTES, RecordError
from annotation.core.trajectories.limits import Limits
from annotation.core.trajectories.trajectory import TrajectoryDraft


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Context of a reader, beside the bytes.

    `filename` stands in every error; `policy_models` names the policy models by sample index;
    `max_record_bytes` bounds one record, and with it the memory of the import, and `limits` what becomes of
    it. The reader counts in `notes` what the import's report shall tell (English words: how many), and names
    in `left_out` what the file has and the trajectories have not. A reader that must gather what lies
    interleaved lays it aside in the folder `scratch` (`None`: the system's) and, of a file that is only
    looked at, gathers `gather_bytes` at most.
    """

    filename: str
    policy_models: Mapping[int, str] = field(default_factory=dict)
    max_record_bytes: int = MAX_RECORD_BYTES
    notes: Counter[str] = field(default_factory=Counter)
    left_out: set[str] = field(default_factory=set)
    scratch: str | None = None
    gather_bytes: int | None = None
    limits: Limits = field(default_factory=Limits)


class Importer(Protocol):
    """A trajectory format. One file of this package, one instance in `FORMATS`.

    A format of decisions has besides `kind`, the name of the kind of project that its files belong into
    (core.kinds); one without belongs into a project of steps.
    """

    @property
    def name(self) -> str:
        """The name used in commands, forms and the API."""

    @property
    def title(self) -> str:
        """The name shown to people (English; a page translates it)."""

    @property
    def recognised_by(self) -> str:
        """The marks of the format in a file, shown to people (English; a page translates it)."""

    def sniff(self, head: bytes) -> float:
        """The certainty, 0 to 1, that a file beginning with `head` is of this format. Never raises."""

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        """Every record of the file, or what is wrong with it: a bad record may give several errors.

        Goes on after a bad record; raises nothing on account of content; needs memory for one record and a
        few dozen bytes for each identity seen.
        """
