"""label_quality PROJECT [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_project, counted, find_project, measure_text
from annotation.policies import OPERATOR
from annotation.reports.quality.label_audit import AuditReport
from annotation.reports.quality.label_quality import LabelQuality, as_json, label_quality

READERS = {
    "step_accuracy": "StepAcc",
    "first_error_accuracy": "FirstErrAcc",
    "exact_match": "exact match",
    "outcome_accuracy": "outcome",
}


class Command(OperatorCommand):
    help = "How many of a project's labels can be wrong, from the newest audit, and what people say twice."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        quality = label_quality(viewer=OPERATOR, project=find_project(options["project"]))
        if options["json"]:
            self.document(as_json(quality))
        else:
            self._write(quality)
        retest = quality.retest
        again = f"{retest.done:,} of {retest.drawn:,} labelled again"
        if quality.audit is None:
            self.summary(f"No audit of the labels has begun; {again}.")
        else:
            counts = quality.audit.certificate.counts
            self.summary(f"{counts.back:,} of {counted(counts.drawn, 'draw')} came back; {again}.")

    def _write(self, quality: LabelQuality) -> None:
        if quality.audit is not None:
            self._certificate(quality.audit)
            self.stdout.write("readers of the audit, against the consensus")
            for name, measure in quality.readers.items():
                self.stdout.write(f"  {READERS[name]:<18} {measure_text(measure)}")
        between = quality.between
        headed = [
            (f"{retest.name or 'all annotators'}, labelled twice", retest) for retest in quality.retests
        ]
        for heading, retest in [("annotators with one another", between), *headed]:
            self.stdout.write(f"{heading} (n = {retest.agreement.n:,})")
            self.stdout.write(f"  agreement          {measure_text(retest.agreement)}")
            self.stdout.write(f"  κ                  {measure_text(retest.kappa)}")

        if (first := quality.judges_first) is not None:
            audit = first.audit
            self.stdout.write(f"settled by judges (judged {first.judged:,}, dropped {first.dropped:,})")
            share = "–" if audit.share is None else f"{audit.share:.4f} ({audit.low:.4f} to {audit.high:.4f})"
            self.stdout.write(f"  people agree       {share}, {audit.done:,} of {audit.drawn:,} labelled")
        if (saved := quality.second_reading) is not None:
            each = saved.labels_a_trajectory
            self.stdout.write(f"judges as the second reader ({counted(saved.judges, 'judge')})")
            self.stdout.write(f"  labels a trajectory {'–' if each is None else f'{each:.2f}'}")
            self.stdout.write(
                f"  one person, a second, waiting: {saved.spared:,}, {saved.asked:,}, {saved.waiting:,}"
            )

    def _certificate(self, report: AuditReport) -> None:
        certificate = report.certificate
        proved = "proved" if report.proved else "not proved yet"
        whole = counted(report.steps, "step")
        self.stdout.write(f"wrong labels, 95 %   at most {certificate.after:.4f} of {whole}")
        self.stdout.write(f"  wished             at most {report.audit.wished:.4f}: {proved}")
        self.stdout.write(
            f"  as they were drawn {measure_text(certificate.error)}, at most {certificate.bound:.4f}"
        )
        self.stdout.write(f"  corrected          {counted(report.corrected, 'step')}")
        for name, counts in certificate.strata.items():
            self.stdout.write(f"  {name}: {counts.back:,} of {counted(counts.drawn, 'draw')} came back")
