"""leaderboard PROJECT VERSION [--json] [--pairs]"""

from argparse import ArgumentParser
from typing import Any

from annotation.core.figures.measure import MIN_TASKS, Measure
from annotation.core.scoring.scores import too_few_tasks
from annotation.core.scoring.without_reading import KeyPositions
from annotation.management.base import OperatorCommand, add_release, counted, find_release, measure_text
from annotation.policies import OPERATOR
from annotation.reports.evaluation.leaderboard import (
    LeaderboardCell,
    LeaderboardRow,
    RecalibratedCell,
    as_json,
    leaderboard,
)
from annotation.reports.evaluation.powered_board import PoweredBoard

SHOWN = {
    "step_accuracy": "StepAcc",
    "first_error_accuracy": "FirstErrAcc",
    "strict_first_error_accuracy": "strict",
    "exact_match": "exact match",
    "kappa": "κ",
}
"""Short titles; other figures have their own."""
POWERED = {**SHOWN, "outcome_accuracy": "outcome"}


class Command(OperatorCommand):
    help = "How well models label the steps of a release, choose among options, or answer questions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_release(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
        parser.add_argument(
            "--pairs", action="store_true", help="of questions and pairs in one release the pairs"
        )

    def run(self, **options: Any) -> None:
        release = find_release(options["project"], options["release_version"])
        board = leaderboard(actor=OPERATOR, release=release, by_pairs=options["pairs"])
        self.scheme = board.scheme
        self.width = max(12, *(len(self._title(name)) + 2 for name in self.scheme.listed))
        if options["json"]:
            self.document(as_json(board))
        else:
            for row in board.rows:
                self._row(row)
            if board.positions is not None:
                self._positions(board.positions)
            few = too_few_tasks(row.overall.scores for row in board.rows)
            if few is not None:
                self.stdout.write(f"Tasks: {few}. Intervals and ranks need at least {MIN_TASKS}.")
            if board.powered.rows:
                self._powered(board.powered)
        pending = " Recalibrated figures are still being worked out." if board.pending else ""
        self.summary(f"{counted(len(board.models), 'model')} on release {release.version}.{pending}")

    def _row(self, row: LeaderboardRow) -> None:
        self.stdout.write(row.name)
        self._cell("all of these" if len(row.subsets) > 1 else "", row.overall)
        if row.recalibrated is not None:
            self._recalibrated(row.recalibrated.overall)
        for name, cell in row.subsets.items() if len(row.subsets) > 1 else ():
            self._cell(name, cell)
        for cut, named in row.cuts.items():
            for name, cell in named.items():
                self._cell(f"{cut} {name}", cell)

    def _positions(self, positions: KeyPositions) -> None:
        counts = zip(positions.letters, positions.counts, positions.expected, strict=True)
        self.stdout.write("keys at " + ", ".join(f"{letter} {n} ({e:.1f})" for letter, n, e in counts))
        square, freedom, p = positions.chi_square, positions.freedom, positions.p
        test = f"chi-square {square:.2f}, {freedom} degrees of freedom, p {p:.3g}"
        self.stdout.write(f"  {positions.reason or test}")

    def _powered(self, board: PoweredBoard) -> None:
        more = counted(board.records, "unlabelled trajectory")
        self.stdout.write(f"with judges' labels of {more}, not ranked")
        for row in board.rows:
            self.stdout.write(f"  {row.model}{': ' + row.reason if row.reason else ''}")
            for name, one in row.figures.items():
                measure = Measure(one.value, one.tasks, interval=one.interval)
                worth = "" if one.worth is None else f"  {one.tasks} tasks, worth {one.worth:.0f}"
                self.stdout.write(f"    {POWERED[name]:<12}{measure_text(measure)}{worth}")

    def _recalibrated(self, cell: RecalibratedCell) -> None:
        self.stdout.write("  recalibrated")
        for name, title in self._shown(cell):
            change = cell.changes[name]
            by = "" if change is None else f"  changed by {change.value:+.4f}"
            self.stdout.write(f"    {title:<{self.width}}{measure_text(cell.scores.figures[name])}{by}")

    def _cell(self, part: str, cell: LeaderboardCell) -> None:
        if part:
            self.stdout.write(f"  {part}")
        if cell.scores.pairs is not None:
            self.stdout.write(
                "    {pairs} pairs: won {won:g}, tied {tied:g}, lost {lost:g}".format(
                    **cell.scores.pairs.as_json()
                )
            )
        if cell.scores.questions is not None:
            self.stdout.write(
                "    {questions} questions: empty {empty}, unreadable {unreadable}".format(
                    **cell.scores.questions.as_json()
                )
            )
        for name, title in self._shown(cell):
            rank = cell.ranks.get(name)
            places = "" if rank is None else f"  rank {rank.together_in_words}"
            self.stdout.write(f"    {title:<{self.width}}{measure_text(cell.scores.figures[name])}{places}")

    def _shown(self, cell: LeaderboardCell | RecalibratedCell) -> list[tuple[str, str]]:
        return [(name, self._title(name)) for name in self.scheme.listed if name in cell.scores.figures]

    def _title(self, name: str) -> str:
        return SHOWN.get(name) or str(self.scheme.figures[name].title)
