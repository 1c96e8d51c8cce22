"""derive_decisions PROJECT VERSION --into PROJECT2 --set NAME --recipe RECIPE [--options K] [--seed N]
[--fewer] [--successful] [--language en|zh] [--json]"""

import sys
from argparse import ArgumentParser
from typing import Any

from tqdm import tqdm

from annotation.core.decisions.questions import LANGUAGES
from annotation.core.decisions.recipes import TOO_FEW_LEFT, DerivedCounts, Recipe
from annotation.core.kinds import DECISIONS
from annotation.management.base import OperatorCommand, add_release, counted, find_release
from annotation.models import Project
from annotation.policies import OPERATOR
from annotation.services import derive, projects


class Command(OperatorCommand):
    help = "Derive decisions from a release into a project of decisions, which is made when it is missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_release(parser)
        parser.add_argument("--into", metavar="PROJECT2", required=True, help="the slug of the project")
        parser.add_argument("--set", metavar="NAME", required=True, help="the set, which is a subset")
        parser.add_argument("--recipe", required=True, help=f"one of {', '.join(Recipe)}")
        parser.add_argument(
            "--options",
            metavar="K",
            type=int,
            help="of an item at most so many options, drawn by the seed; of a next-step exactly so many (4)",
        )
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="the seed of what is drawn (0)")
        parser.add_argument("--fewer", action="store_true", help="keep a next-step that has fewer options")
        parser.add_argument(
            "--successful",
            action="store_true",
            help="ask of every successful run, not only of those without a −1",
        )
        parser.add_argument(
            "--language", choices=LANGUAGES, default=LANGUAGES[0], help="the language of the questions"
        )
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        release = find_release(options["project"], options["release_version"])
        named = ("recipe", "seed", "options", "fewer", "successful", "language")
        request = derive.DerivationRequest.of(anyway=True, **{name: options[name] for name in named})
        derive.require_derivable(release)
        slug = options["into"]
        project = Project.objects.filter(slug=slug).first() or projects.create_project(
            actor=OPERATOR, name=slug, slug=slug, kind=DECISIONS.name
        )
        source = derive.derive(
            actor=OPERATOR,
            release=release,
            project=project,
            subset=options["set"],
            request=request,
            enqueue=False,
        )
        with tqdm(
            total=source.size,
            unit="B",
            unit_scale=True,
            desc=source.filename,
            leave=False,
            disable=not sys.stderr.isatty(),
        ) as bar:
            source = derive.run_import(source_id=source.pk, progress=lambda done, _: bar.update(done - bar.n))
        counts = DerivedCounts.of_notes(source.notes).as_json(request.recipe)
        too_few = source.notes.get(TOO_FEW_LEFT, 0)
        if options["json"]:
            self.document(
                {
                    "project": slug,
                    "set": source.target.name,
                    "from": {name: source.derived_from[name] for name in ("project", "version", "digest")},
                    "recipe": str(request.recipe),
                    "seed": request.seed,
                    "options": request.most,
                    "new": source.created_count,
                    "unchanged": source.unchanged_count,
                    **counts,
                    "too_few_people": too_few,
                }
            )
        self.summary(
            f"{slug}, {source.target.name}: {counted(counts['items'], 'decision')} derived "
            f"({source.created_count:,} new, {source.unchanged_count:,} unchanged)"
            + (f", {counts['pairs']:,} pairs of a better and a worse option." if "pairs" in counts else ".")
        )
        if too_few:
            self.summary(
                f"Fewer than {project.annotators_per_trajectory} annotators of {slug} are left for "
                f"{too_few:,} of them, because the others know what became of their sources."
            )
