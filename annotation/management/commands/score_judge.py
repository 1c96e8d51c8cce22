"""score_judge PROJECT VERSION --judge NAME [--run] [--budget USD]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, add_release, counted, find_release
from annotation.models import Judge
from annotation.policies import OPERATOR
from annotation.reports.judging.judge_coverage import judge_coverage
from annotation.services import evaluate


class Command(OperatorCommand):
    help = "Make what a judge of the project suggests its predictions of a release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_release(parser)
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument("--run", action="store_true", help="first ask it about what it lacks")
        parser.add_argument("--budget", default="", metavar="USD", help="of the run, at most")

    def run(self, **options: Any) -> None:
        release = find_release(options["project"], options["release_version"])
        judge = Judge.objects.filter(project=release.project, name=options["judge"]).first()
        if judge is None:
            raise CommandError(f"There is no judge “{options['judge']}” in {release.project.slug}.")
        if options["run"]:
            rows = judge_coverage(actor=OPERATOR, release=release)
            if next(row.pending for row in rows if row.judge == judge):
                run = {"judge": [judge.name], "release": release.version, "budget": options["budget"]}
                call_command("suggest", release.project.slug, **run, stderr=self.stderr)
        scored = evaluate.score_judge(actor=OPERATOR, release=release, judge=judge)
        if scored.created:
            evaluate.fit_release(release_id=release.pk)
        self.summary(
            f"{judge.name}: {counted(scored.created, 'record')} scored, {scored.unchanged:,} unchanged; "
            f"{counted(scored.failed, 'judgement')} failed, {counted(scored.missing, 'label')} missing; "
            f"{counted(scored.absent, 'record')} without a suggestion"
            f" ({scored.changed:,} changed since, {scored.gone:,} gone)."
        )
