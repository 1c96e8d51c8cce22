"""export_release PROJECT VERSION --format FORMAT --output DIR, or --prompts NAME in place of a format"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.core.releases.exports import BY_NAME, PLAIN, export_options
from annotation.core.releases.exports.formats.base import ZEROS
from annotation.core.releases.exports.formats.protocols import PROTOCOLS
from annotation.management.base import OperatorCommand, add_project, counted, find_release
from annotation.management.prompts import add_prompts, export_prompts
from annotation.policies import OPERATOR
from annotation.services import release


class Command(OperatorCommand):
    help = (
        "Write a release as files: AgentProcessBench lines, a Hugging Face data set (Parquet, card, "
        "Croissant), or step rewards for training; with checksums and signatures. Or prompts that ask its "
        "questions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("release_version", metavar="VERSION")
        parser.add_argument("--format", default=PLAIN.format.name, choices=BY_NAME)
        parser.add_argument("--output", required=True, metavar="DIR")
        parser.add_argument(
            "--split", metavar="SHARE", help="share of each subset's tasks for a test split, such as 0.2"
        )
        parser.add_argument("--seed", metavar="N", help="which tasks those are (default 0)")
        parser.add_argument(
            "--protocol",
            default=PLAIN.protocol,
            choices=PROTOCOLS,
            help="whether a consequence of an error is −1 (propagated), or has no label (independent)",
        )
        parser.add_argument(
            "--blind-labels", action="store_true", help="what each annotator said blind, under pseudonyms"
        )
        parser.add_argument(
            "--zero",
            default=PLAIN.zero,
            choices=ZEROS,
            help="of training sets: the label 0 is true or false, has no label of its own (merge), or ends "
            "the trajectory (cut)",
        )

        add_prompts(parser)

    def run(self, **options: Any) -> None:
        frozen = find_release(options["project"], options["release_version"])
        if options["prompts"] is not None:
            row = export_prompts(frozen, options)
            counts = row.parsed_counts or {}
            self.summary(
                f"{counted(counts['test'] + counts['train'], 'prompt')} written to {options['output']}, "
                f"{counts['test']:,} for testing; {counts['cut']:,} cut, {counts['too_long']:,} too long, "
                f"{counts['fewer_shots']:,} with fewer examples; SHA-256 {row.digest}."
            )
            return
        output = Path(options["output"])
        chosen = export_options(
            {key: options[key] for key in ("format", "split", "seed", "protocol", "blind_labels", "zero")}
        )
        manifest = release.export_release(actor=OPERATOR, release=frozen, options=chosen, output=output)
        subsets = counted(len(manifest["files"]), "subset")
        self.summary(f"{counted(manifest['records'], 'record')} in {subsets} written to {output}.")
