"""Whether what one person is sent tells some of what they are given from the rest: every answer is recorded,
and a classifier is trained on all that is in them.

Records must have one shape, and numbers one length, so that what differs is not the material.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Final

import numpy as np
from django.db import connection
from scipy.stats import binomtest, rankdata, siegelslopes
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_predict

from annotation.models import Project, User
from tests.answers import ANEW, NUMBER, shape
from tests.callers import PlainClient

TREES: Final = 150


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer: `text` is its status, headers and body without what is made anew, `took` milliseconds. Of
    what is only read, `worked` is those of the processor, which other programs disturb less, and `queries`
    how often the database was asked; acts are answered at even times (services.even_time)."""

    text: str
    took: float
    worked: float
    queries: int

    @property
    def numbers(self) -> list[float]:
        """Every number in it."""
        return [float(one) for one in NUMBER.findall(self.text)]

    @property
    def shape(self) -> str:
        """It without its numbers."""
        return shape(self.text)


@dataclass
class Turn:
    """All answers about one trajectory that somebody was given, in order; `hidden`: it was gold, or a
    recheck."""

    assignment: int
    trajectory: int
    record: str
    hidden: bool
    sent: list[Sent] = field(default_factory=list)


class Recorder:
    """Asks as one person, and keeps everything that comes back."""

    def __init__(self, user: User, project: Project) -> None:
        self.client = PlainClient(user)
        self.api = f"/api/v1/projects/{project.slug}"
        self.page = f"/p/{project.slug}"

    def ask(self, method: str, url: str, body: Any = None) -> tuple[Sent, bytes]:
        """One answer; a `body` goes out as JSON."""
        extra: dict[str, Any] = {}
        if body is not None:
            extra = {"data": json.dumps(body), "content_type": "application/json"}
        asked = 0

        def count(execute: Any, *args: Any) -> Any:
            nonlocal asked
            asked += 1
            return execute(*args)

        with connection.execute_wrapper(count):
            began, worked = time.perf_counter(), time.thread_time()
            answer: Any = getattr(self.client, method)(url, **extra)
            whole = b"".join(answer.streaming_content) if answer.streaming else answer.content
            took, worked = 1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - worked)
        headers = "\n".join(f"{name}: {value}" for name, value in sorted(answer.headers.items()))
        text = ANEW.sub("", f"{answer.status_code}\n{headers}\n{len(whole)}\n{whole.decode()}")
        only_read = method == "get"
        return Sent(text, took, worked if only_read else 0.0, asked if only_read else 0), whole

    def claim(self) -> Turn:
        """The next trajectory."""
        sent, whole = self.ask("post", f"{self.api}/claim/", {"resume": False})
        given = json.loads(whole)
        return Turn(given["id"], given["trajectory"], given["record_id"], False, [sent])

    def open(self, turn: Turn) -> None:
        """The page that one labels on, and the same for programs."""
        for url in (f"/assignments/{turn.assignment}/", f"/api/v1/assignments/{turn.assignment}/"):
            turn.sent.append(self.ask("get", url)[0])

    def pages(self, turn: Turn) -> None:
        """All that is about a trajectory that one has, or had."""
        at = f"/api/v1/trajectories/{turn.trajectory}/"
        mine = f"/api/v1/assignments/{turn.assignment}/"
        for url in (
            *(f"/assignments/{turn.assignment}/", mine, f"{mine}reveals/", f"{mine}consensus/"),
            *(at, f"{at}judgements/", f"{at}history/", f"{at}raw/", f"{at}atif/"),
            f"/trajectories/{turn.trajectory}/messages/2/",
            f"{self.page}/trajectories/{turn.trajectory}/",
        ):
            turn.sent.append(self.ask("get", url)[0])

    def work(self, turn: Turn) -> None:
        """Return it, take it up again, label and submit it, and try to open it again."""
        mine = f"/api/v1/assignments/{turn.assignment}/"
        label = {"version": 0, "source": "explicit", "note": "canary"}
        changes = [
            {"target": "step", "message_index": 2, "value": 1, **label},
            {"target": "step", "message_index": 4, "value": -1, **label},
            {"target": "outcome", "value": -1, **label},
        ]
        acts: list[tuple[str, str, Any]] = [
            ("post", "return/", {"reason": "Not now."}),
            ("post", "resume/", {}),
            ("post", "labels/", {"op_id": f"op-{turn.assignment}", "changes": changes}),
            ("post", "reveals/", {"all": True}),
            ("post", "submit/", {}),
            ("post", "submit/", {}),
            ("post", "reopen/", {}),
            ("post", "submit/", {}),
        ]
        for method, act, body in acts:
            turn.sent.append(self.ask(method, mine + act, body)[0])

    def look_again(self, turn: Turn) -> None:
        """Begin another look at it, label it otherwise and submit it, and try to open it again."""
        mine = f"/api/v1/assignments/{turn.assignment}/"
        label = {"version": 1, "source": "explicit", "note": "canary"}
        changes = [{"target": "step", "message_index": 4, "value": 1, **label}]
        acts: list[tuple[str, str, Any]] = [
            ("post", "look-again/", {}),
            ("post", "look-again/", {}),
            ("get", "", None),
            ("post", "labels/", {"op_id": f"again-{turn.assignment}", "changes": changes}),
            ("post", "submit/", {}),
            ("post", "reopen/", {}),
            ("post", "submit/", {}),
        ]
        for method, act, body in acts:
            turn.sent.append(self.ask(method, mine + act, body)[0])

    def lists(self, turns: Sequence[Turn]) -> None:
        """Of each turn its lines in each list, with their number among those of the others."""
        tabs = ("open", "submitted", "returned")
        urls = (
            *(f"{self.page}/work/?state={tab}&page_size=1000" for tab in tabs),
            *(f"{self.page}/work/?state=submitted&as=csv", f"{self.api}/assignments/?page_size=200"),
            *(f"{self.page}/search/?q=canary", f"{self.page}/search/?q=Looking"),
            "/notices/",
        )
        for url in urls:
            whole = self.ask("get", url)[1].decode()
            lines = re.split(r"(?<=</tr>)|(?<=</li>)|(?<=\})|\n", whole)
            for turn in turns:
                own = re.compile(rf"assignments/{turn.assignment}\b|\b{re.escape(turn.record)}\b")
                found = [f"{n} {line}" for n, line in enumerate(lines) if own.search(line)]
                turn.sent.append(Sent(ANEW.sub("", "\n".join(found)), 0.0, 0.0, 0))


def odd_ones(turns: Sequence[Turn], *, least: int = 2) -> list[Counter[tuple[str, bool]]]:
    """Answers with several shapes, of which one with `least` turns or more is of hidden ones alone or of
    others alone, counted by shape and `hidden`."""
    found = []
    for answers in zip(*(turn.sent for turn in turns), strict=True):
        shapes = Counter((sent.shape, turn.hidden) for sent, turn in zip(answers, turns, strict=True))
        of = {shape for shape, _hidden in shapes}
        if len(of) > 1 and any(
            shapes[shape, True] + shapes[shape, False] >= least
            and 0 in (shapes[shape, True], shapes[shape, False])
            for shape in of
        ):
            found.append(shapes)
    return found


def features(turns: Sequence[Turn], *, timed: bool) -> np.ndarray:
    """Every number of every answer where all have as many, its length and shape, queries and (`timed`) times,
    by how much each differs from that of the turn before, and how far numbers of the first answer where they
    vary are from the line that they make with others of it: (turns, features)."""
    columns: list[list[float]] = []
    together: list[list[float]] = []
    for answers in zip(*(turn.sent for turn in turns), strict=True):
        numbers = [sent.numbers for sent in answers]
        width = min(map(len, numbers))
        told = [list(column) for column in zip(*(row[:width] for row in numbers), strict=True)]
        columns += told
        if len(varied := [column for column in told if len(set(column)) > 1]) > 1:
            together = together or varied
        shapes = {shape: n for n, shape in enumerate(sorted({sent.shape for sent in answers}))}
        columns.append([float(shapes[sent.shape]) for sent in answers])
        columns.append([float(len(sent.text)) for sent in answers])
        columns.append([float(sent.queries) for sent in answers])
        if timed:
            columns += [[sent.took for sent in answers], [sent.worked for sent in answers]]
    rows = np.array(columns, dtype=np.float64).T
    steps = np.diff(rows, axis=0, prepend=rows[:1])
    both = np.hstack([rows, steps, np.sign(steps), off_line(np.array(together).T)])
    return np.unique(both[:, both.std(axis=0) > 0], axis=1)


def off_line(rows: np.ndarray) -> np.ndarray:
    """How far each number is from the line that most of it makes with another one, by the median of slopes
    (Siegel 1982): (turns, pairs)."""
    rows = np.unique(rows, axis=1)
    pairs = permutations(range(rows.shape[1]), 2)
    lines = ((rows[:, y], rows[:, x], siegelslopes(rows[:, y], rows[:, x])) for x, y in pairs)
    return np.array([np.abs(y - line.slope * x - line.intercept) for y, x, line in lines]).T


def surprise(score: np.ndarray, hidden: np.ndarray) -> float:
    """How far a score sets hidden ones above others, in standard deviations of chance (Mann–Whitney)."""
    yes, no = int(hidden.sum()), int((~hidden).sum())
    wins = rankdata(score)[hidden].sum() - yes * (yes + 1) / 2
    return float((wins - yes * no / 2) / np.sqrt(yes * no * (yes + no + 1) / 12))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a classifier says of turns that it was not trained on: `right` of `n`, as many hidden as others;
    `low` and `high`: the 99.9 % interval of its accuracy (Clopper and Pearson 1934)."""

    n: int
    right: int
    low: float
    high: float
    surprise: float
    loudest: float

    @property
    def by_chance(self) -> bool:
        """Whether half right is in the interval."""
        return self.low <= 0.5 <= self.high


def verdict(rows: np.ndarray, hidden: np.ndarray, *, seed: int = 1) -> Verdict:
    """Train on four fifths and ask about the others, five times; `surprise` of what it says, and of the
    `loudest` single feature."""
    chance = np.random.default_rng(seed)
    yes, no = np.flatnonzero(hidden), np.flatnonzero(~hidden)
    size = min(len(yes), len(no))
    kept = np.sort(
        np.concatenate([chance.choice(yes, size, replace=False), chance.choice(no, size, replace=False)])
    )
    trees = ExtraTreesClassifier(TREES, min_samples_leaf=2, random_state=seed)
    said = cross_val_predict(trees, rows[kept], hidden[kept], cv=5, method="predict_proba")[:, 1]
    right = int(((said > 0.5) == hidden[kept]).sum())
    interval = binomtest(right, 2 * size).proportion_ci(0.999)
    loudest = max(abs(surprise(column, hidden)) for column in rows.T)
    return Verdict(2 * size, right, interval.low, interval.high, surprise(said, hidden[kept]), loudest)
