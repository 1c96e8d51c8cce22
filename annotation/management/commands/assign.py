"""assign PROJECT [--annotators A,B,…] [--seed N] [--withdraw]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.models import User
from annotation.policies import OPERATOR
from annotation.services import assign


class Command(OperatorCommand):
    help = "Share the free places out beforehand: all get as many, and every two meet as often."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument(
            "--annotators", metavar="A,B,…", help="user names; default: all annotators of the project"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what chance decides")
        parser.add_argument("--withdraw", action="store_true", help="take back what nobody has claimed yet")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        names = [name.strip() for name in (options["annotators"] or "").split(",") if name.strip()]
        people = list(User.objects.filter(username__in=names))
        if missing := sorted({*names} - {person.username for person in people}):
            raise CommandError(f"There is no account “{missing[0]}”.")
        if options["withdraw"]:
            done = assign.withdraw(actor=OPERATOR, project=project, annotators=people or None).done
            self.summary(f"{counted(len(done), 'trajectory')} withdrawn: anybody can claim them.")
            return
        plan = assign.plan(actor=OPERATOR, project=project, annotators=people, seed=options["seed"])
        shares = ", ".join(f"{name} {count:,}" for name, count in plan.by_person.items())
        of_them = counted(plan.trajectories, "trajectory")
        self.summary(f"{counted(plan.places, 'place')} of {of_them} assigned: {shares}.")
