"""workshop PROJECT --judge NAME [--size N] [--seed S] [--sample ID] [--prompt VERSION] [--budget USD]
[--estimate]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.core.judging.prompts import PROMPTS, versions_of
from annotation.core.seed import SEED
from annotation.core.vocabulary import SuggestionRunState
from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.management.judge_arguments import dollars, find_judge, in_words
from annotation.models import Judge, SuggestionRun, WorkshopSample
from annotation.policies import OPERATOR
from annotation.reports.judging import prompt_workshop
from annotation.services import suggest


class Command(OperatorCommand):
    help = "Try a prompt of a judge on a fixed sample of resolved trajectories, beside the one it has."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--sample", type=int, metavar="ID", help="one that was drawn before")
        parser.add_argument("--size", type=int, default=50, metavar="N", help="of a new sample (50)")
        parser.add_argument("--seed", type=int, default=SEED, metavar="S", help="of a new sample")
        parser.add_argument("--prompt", choices=PROMPTS, metavar="VERSION", help="what to try (the newest)")
        parser.add_argument("--budget", default="", metavar="USD", help="stop before it costs more")
        parser.add_argument("--estimate", action="store_true", help="say what it would take, and do nothing")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        judge = find_judge(project, options["judge"])
        prompt = options["prompt"] or versions_of(project.of_kind)[-1]
        sample_before = None if options["sample"] is None else _sample(judge, options["sample"])
        drawing = {"actor": OPERATOR, "judge": judge, "size": options["size"], "seed": options["seed"]}
        if options["estimate"]:
            self._estimate(judge, sample_before, prompt, drawing)
            return
        budget = dollars(options["budget"])
        sample = sample_before or suggest.draw_sample(**drawing)
        run = suggest.try_prompt(
            actor=OPERATOR, sample=sample, prompt_version=prompt, budget=budget, enqueue=False
        )
        run = suggest.run_suggestions(run_id=run.pk)
        self._compare(sample)
        self._say(sample, run)

    def _estimate(
        self, judge: Judge, sample: WorkshopSample | None, prompt: str, drawing: dict[str, Any]
    ) -> None:
        if sample is None:
            pks = suggest.trajectories_to_draw(**drawing)
            estimate = prompt_workshop.estimate_on(
                viewer=OPERATOR, judge=judge, wanted=pks, prompt_version=prompt
            )
        else:
            estimate = prompt_workshop.estimate(viewer=OPERATOR, sample=sample, prompt_version=prompt)
        self.summary(f"{judge.name} with {prompt}: {in_words(estimate)}")

    def _compare(self, sample: WorkshopSample) -> None:
        for attempt in prompt_workshop.tried(viewer=OPERATOR, sample=sample):
            kappa = attempt.scores.figures["kappa"].value
            kappa_text = "undefined" if kappa is None else f"{kappa:.4f}"
            cost = "" if attempt.cost is None else f", {attempt.cost:.4f} USD"
            whose = "as it is" if attempt.trial is None else "tried"
            self.summary(
                f"{attempt.prompt_version} ({whose}): κ {kappa_text} over {attempt.scores.answered:,} of "
                f"{counted(attempt.scores.steps, 'step')}{cost}"
            )

    def _say(self, sample: WorkshopSample, run: SuggestionRun) -> None:
        """The last line; an end that leaves work undone is an error."""
        figures = f"Sample {sample.pk}, run {run.pk}"
        if run.progress_failed:
            figures += f", {run.progress_failed:,} of {counted(run.progress_total, 'trajectory')} failed"
        if run.state == SuggestionRunState.FINISHED:
            self.summary(f"{figures}.")
            return
        raise CommandError(f"{figures}: {run.state}. {run.stop_reason}".strip())


def _sample(judge: Judge, pk: int) -> WorkshopSample:
    sample = WorkshopSample.objects.filter(pk=pk, judge=judge).first()
    if sample is None:
        raise CommandError(f"{judge.name} has no sample {pk}.")
    return sample
