"""recalibrate PROJECT --judge NAME [--off]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.models import Judge
from annotation.policies import OPERATOR
from annotation.reports.judging.judge_figures import judge_agreement
from annotation.services import suggest


class Command(OperatorCommand):
    help = "Switch the recalibration of a judge on, or fit it anew, on the project's resolved labels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--off", action="store_true", help="switch it off")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        judge = Judge.objects.filter(project=project, name=options["judge"]).first()
        if judge is None:
            raise CommandError(f"There is no judge “{options['judge']}” in {project.slug}.")
        suggest.set_recalibration(actor=OPERATOR, judge=judge, on=not options["off"])
        if options["off"]:
            self.summary(f"{judge.name}: recalibration is off.")
            return
        suggest.fit_recalibration(judge_id=judge.pk)
        judge.refresh_from_db()
        about = judge.recalibration
        self.summary(
            f"{judge.name}: fitted on {counted(about['steps'], 'resolved step')} of "
            f"{counted(about['tasks'], 'task')}{_kappas(judge)}."
        )


def _kappas(judge: Judge) -> str:
    """κ against resolved labels, raw and recalibrated, where it is defined."""
    whole = judge_agreement(viewer=OPERATOR, judge=judge, intervals=False).consensus[0]
    if whole.recalibrated is None:
        return ""
    raw, after = (scores.figures["kappa"].value for scores in (whole.steps, whole.recalibrated))
    if raw is None or after is None:
        return ""
    return f"; κ against them {raw:.3f} raw, {after:.3f} recalibrated"
