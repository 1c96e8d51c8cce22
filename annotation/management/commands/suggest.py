"""suggest PROJECT --judge NAME [--subset NAME] [--release VERSION] [--limit N] [--budget USD] [--estimate]
suggest PROJECT --judge NAME --options K [--subset NAME] [--limit N] [--budget USD] [--estimate]
suggest PROJECT --judge NAME --release VERSION --prompts NAME [--budget USD] [--estimate]
suggest PROJECT --judge NAME --judge NAME --judge NAME --settle [--estimate] [--json]"""

import signal
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from decimal import Decimal
from types import FrameType
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from tqdm import tqdm

from annotation.core.vocabulary import SuggestionRunState
from annotation.management.base import OperatorCommand, add_project, counted, find_project, find_release
from annotation.management.judge_arguments import dollars, find_judge, in_words
from annotation.models import UNFINISHED_RUNS, Judge, Project, PromptSet, SuggestionRun
from annotation.policies import OPERATOR
from annotation.reports.judging import estimates, judges_first
from annotation.reports.judging.baseline import lines, training
from annotation.reports.judging.run_selection import RunSelection
from annotation.reports.judging.runs import Written, failures, written
from annotation.services import evaluate, suggest
from annotation.services.judges_first import settle_judged

State = SuggestionRunState


class Command(OperatorCommand):
    help = (
        "Ask a judge about the trajectories it has no suggestions for; what was broken off is gone on with. "
        "Or have it write distractors for questions that have too few options. Or settle what three judges "
        "or more agree on, before people are asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument(
            "--judge", action="append", required=True, metavar="NAME", help="with --settle three or more"
        )
        parser.add_argument("--subset", default="", help="only this subset")
        parser.add_argument("--release", default="", metavar="VERSION", help="only what this release holds")
        parser.add_argument(
            "--limit", type=int, default=None, metavar="N", help="at most so many trajectories"
        )
        parser.add_argument(
            "--options",
            type=int,
            default=None,
            metavar="K",
            help="write distractors until each question has so many options",
        )
        parser.add_argument(
            "--prompts",
            default="",
            metavar="NAME",
            help="ask these prompts of --release, those for testing, and score what the judge writes",
        )
        parser.add_argument("--budget", default="", metavar="USD", help="stop before it costs more")
        parser.add_argument("--estimate", action="store_true", help="say what it would take, and do nothing")
        parser.add_argument("--settle", action="store_true", help="settle what these judges agree on")
        parser.add_argument("--json", action="store_true", help="of --settle one JSON document on stdout")
        parser.add_argument("--enqueue", action="store_true", help="leave the work to a worker")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        judges = [find_judge(project, name) for name in options["judge"]]
        if options["settle"]:
            self._settle(project, judges, only_said=options["estimate"], as_json=options["json"])
            return
        if len(judges) > 1:
            raise CommandError("A run is of one judge; several are for --settle.")
        (judge,) = judges
        selection = RunSelection(subset=options["subset"], limit=options["limit"], release=options["release"])
        prompts = self._prompts(options)
        if options["estimate"] and prompts is not None:
            counts = prompts.parsed_counts
            if counts is None:
                raise CommandError("These prompts are not made yet.")
            self.summary(f"{counts['test']:,} prompts, {counts['test_tokens']:,} tokens in, estimated.")
            return
        if options["estimate"]:
            self._estimate(judge, selection, options["options"])
            return
        run = self._begun(
            judge,
            selection,
            {"options": options["options"], "prompts": prompts},
            dollars(options["budget"]),
            enqueue=options["enqueue"],
        )
        if options["enqueue"]:
            self.summary(
                f"{judge.name}: run {run.pk} over {counted(run.progress_total, 'trajectory')} is queued."
            )
            return
        with _interruptible() as stopping, self._bar(run, judge) as bar:

            def show(now: suggest.RunTotals) -> None:
                bar.update(now.done + now.failed - bar.n)
                bar.set_postfix_str(f"{now.failed:,} failed, {now.cost:.4f} USD")

            run = suggest.run_suggestions(
                run_id=run.pk, progress=show, stopping=stopping, interrupted=State.PAUSED
            )
        self._say(run, interrupted=stopping.is_set())

    def _prompts(self, options: dict[str, Any]) -> PromptSet | None:
        """The set of prompts that is to be asked, if one is. Raises CommandError."""
        if not options["prompts"]:
            return None
        if any(options[name] for name in ("subset", "limit", "options")):
            raise CommandError("Prompts are asked as they were made: with --prompts goes --release alone.")
        release = find_release(options["project"], options["release"])
        row = PromptSet.objects.select_related("release").filter(release=release, name=options["prompts"])
        prompts = row.first()
        if prompts is None:
            raise CommandError(f"Release {release.version} has no prompts “{options['prompts']}”.")
        return prompts

    def _settle(self, project: Project, judges: list[Judge], *, only_said: bool, as_json: bool) -> None:
        if only_said:
            settlement = judges_first.preview(viewer=OPERATOR, project=project, judges=judges)
        else:
            settlement = settle_judged(actor=OPERATOR, project=project, judges=judges)
        if as_json:
            self.document({"project": project.slug, **asdict(settlement)})
        self.summary(
            f"{counted(settlement.judged, 'trajectory')} judged, {settlement.dropped:,} dropped, "
            f"{settlement.people:,} for people ({settlement.claimed:,} claimed before, "
            f"{settlement.lacking:,} without a judge's answer), "
            f"{settlement.waiting:,} that a judge has not been asked about"
        )

    def _begun(
        self,
        judge: Judge,
        selection: RunSelection,
        asked: dict[str, Any],
        budget: Decimal | None,
        *,
        enqueue: bool,
    ) -> SuggestionRun:
        """A new run, or the one that was broken off: nothing is asked twice because a terminal was closed."""
        run = SuggestionRun.objects.filter(judge=judge, state__in=UNFINISHED_RUNS).first()
        if run is None:
            return suggest.start_run(
                actor=OPERATOR,
                judge=judge,
                selection=selection,
                **asked,
                budget=budget,
                enqueue=enqueue,
            )
        if run.lease_until is not None and run.lease_until > timezone.now():
            raise CommandError(f"{judge.name} is at work already (run {run.pk}); wait for it, or cancel it.")
        if run.state == State.RUNNING:
            suggest.reap()
            run.refresh_from_db()
        if run.state == State.PAUSED:
            suggest.resume_run(actor=OPERATOR, run=run, budget=budget, enqueue=enqueue)
        self.summary(f"{judge.name}: going on with run {run.pk}.")
        return run

    def _bar(self, run: SuggestionRun, judge: Judge) -> Any:
        return tqdm(
            total=run.progress_total,
            initial=run.progress_done + run.progress_failed,
            unit="trajectory",
            desc=judge.name,
            leave=False,
            disable=not sys.stderr.isatty(),
        )

    def _estimate(self, judge: Judge, selection: RunSelection, options: int | None) -> None:
        estimate = estimates.estimate(
            viewer=OPERATOR, judge=judge, selection=selection, options=options, at_most=None
        )
        self.summary(f"{judge.name}: {in_words(estimate)}")

    def _say(self, run: SuggestionRun, *, interrupted: bool) -> None:
        """The summary; an end that leaves work undone is an error."""
        trained = training(Judge.objects.get(pk=run.judge_id))
        for line in lines(trained) if trained is not None else ():
            self.summary(line)
        done = written(run)
        figures = (
            f"{run.progress_done:,} of {counted(run.progress_total, 'trajectory')} "
            f"{'suggested' if done is None else 'answered'}, "
            f"{run.progress_failed:,} failed, {run.cost:.4f} USD"
        )
        if done is not None:
            self._say_written(done)
        if run.state == State.FINISHED and run.prompts_id is not None:
            scored = evaluate.score_run(run_id=run.pk)
            self.summary(f"Scored as {scored.prediction_set.model}." if scored is not None else "")
        for group in failures(viewer=OPERATOR, run=run):
            self.stderr.write(f"{group.kind}: {group.count:,}, for example: {group.message}")
        if run.state == State.FINISHED:
            self.summary(f"{run.judge.name}: {figures}.")
            return
        if run.state == State.PAUSED and interrupted:
            raise CommandError(f"{run.judge.name}: interrupted; {figures}. The same command goes on.")
        why = f" {run.stop_reason}" if run.stop_reason else ""
        raise CommandError(f"{run.judge.name}: {run.state}; {figures}.{why}")

    def _say_written(self, done: Written) -> None:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in done.refused.items())
        self.summary(
            f"{counted(done.added, 'option')} added, {sum(done.refused.values()):,} refused"
            f"{f' ({reasons})' if reasons else ''}; {counted(done.short, 'question')} still short, "
            f"{done.changed:,} begun or replaced meanwhile."
        )


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C (or SIGTERM) sets; the second one is as hard as ever."""
    stop_event = threading.Event()
    before: dict[int, Any] = {}

    def ask(number: int, _frame: FrameType | None) -> None:
        stop_event.set()
        signal.signal(number, before[number])

    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop_event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
