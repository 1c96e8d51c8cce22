"""paired_labels PROJECT [--repair]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.core.vocabulary import SETTLED
from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.models import Trajectory
from annotation.services import pairing
from annotation.services.batched_writes import in_blocks


class Command(OperatorCommand):
    help = "Check that the pairs of labels that figures are made of are those that the labels give."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--repair", action="store_true", help="store anew those that are not")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        rows = Trajectory.objects.filter(project=project, live=True, state__in=SETTLED).order_by("pk")
        settled = list(rows.values_list("pk", flat=True))
        wrong = [pk for pk in settled if pairing.differing(pk)]
        if wrong and not options["repair"]:
            raise CommandError(
                f"The stored pairs of {len(wrong):,} of {counted(len(settled), 'trajectory')} are not those "
                "of their labels; --repair stores them anew."
            )
        in_blocks(wrong, pairing.repair)
        self.summary(f"{counted(len(settled), 'settled trajectory')}, {len(wrong):,} stored anew.")
