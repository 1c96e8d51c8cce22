"""workshop PROJECT --judge NAME [--size N] [--seed S] [--sample ID] [--prompt VERSION] [--budget USD]"""

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError

from annotation.core.judging import LATEST, VERSIONS
from annotation.core.seed import SEED
from annotation.management.base import OperatorCommand, add_project, find_project
from annotation.models import Judge, WorkshopSample
from annotation.policies import OPERATOR
from annotation.reports import workshop
from annotation.services import suggest


class Command(OperatorCommand):
    help = "Try a prompt of a judge on a fixed sample of resolved trajectories, beside the one it has."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--sample", type=int, metavar="ID", help="one that was drawn before")
        parser.add_argument("--size", type=int, default=50, metavar="N", help="of a new sample (50)")
        parser.add_argument("--seed", type=int, default=SEED, metavar="S", help="of a new sample")
        parser.add_argument("--prompt", choices=VERSIONS, default=LATEST, help=f"what to try ({LATEST})")
        parser.add_argument("--budget", default="", metavar="USD", help="stop before it costs more")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        judge = Judge.objects.filter(project=project, name=options["judge"]).first()
        if judge is None:
            raise CommandError(f"There is no judge “{options['judge']}” in {project.slug}.")
        try:
            budget = Decimal(options["budget"]) if options["budget"] else None
        except InvalidOperation:
            raise CommandError("--budget must be a number of US dollars.") from None
        if options["sample"] is None:
            sample = suggest.draw_sample(
                actor=OPERATOR, judge=judge, size=options["size"], seed=options["seed"]
            )
        else:
            known = WorkshopSample.objects.filter(pk=options["sample"], judge=judge).first()
            if known is None:
                raise CommandError(f"{judge.name} has no sample {options['sample']}.")
            sample = known
        run = suggest.try_prompt(
            actor=OPERATOR, sample=sample, prompt_version=options["prompt"], budget=budget, enqueue=False
        )
        suggest.run_suggestions(run_id=run.pk)
        for one in workshop.tried(viewer=OPERATOR, sample=sample):
            kappa = one.scores.kappa.value
            told = "undefined" if kappa is None else f"{kappa:.4f}"
            cost = "" if one.cost is None else f", {one.cost:.4f} USD"
            whose = "as it is" if one.trial is None else "tried"
            self.summary(
                f"{one.prompt_version} ({whose}): κ {told} over {one.scores.answered:,} of "
                f"{one.scores.steps:,} steps{cost}"
            )
        self.summary(f"Sample {sample.pk}, run {run.pk}.")
