"""benchmark PROJECT VERSION [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_release, counted, find_release, measure_text
from annotation.policies import OPERATOR
from annotation.reports.evaluation.benchmark import STEP, Benchmark, as_json, benchmark


class Command(OperatorCommand):
    help = "How a release's figures relate over models, and how far its ranking is that of single annotators."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_release(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        release = find_release(options["project"], options["release_version"])
        report = benchmark(actor=OPERATOR, release=release)
        if options["json"]:
            self.document(as_json(report))
        else:
            self._write(report)
        self.summary(f"{counted(len(report.models), 'model')} on release {release.version}.")

    def _write(self, report: Benchmark) -> None:
        for relation in report.relations:
            self.stdout.write(f"{STEP} with {relation.figure}: r {measure_text(relation.r)}")
        for one in report.readers:
            self.stdout.write(
                f"annotator-{one.reader} ({counted(one.records, 'trajectory')}): τ {measure_text(one.tau)}"
            )
            for ahead, behind in one.turned:
                self.stdout.write(f"  turned: {report.models[ahead]}, {report.models[behind]}")
        for shift in report.shifts:
            self.stdout.write(
                f"{shift.model}, own suggestions seen on {counted(shift.records, 'trajectory')}: "
                f"shift {measure_text(shift.shift)}"
            )
