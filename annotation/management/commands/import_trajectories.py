"""import_trajectories PROJECT FILE… [--preview] [--subset NAME] [--format NAME] [--replace]
[--suspend-on-user-turn] …"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from django.core.management.base import CommandError
from tqdm import tqdm

from annotation.core.errors import ImportRefused, Invalid, TristepError
from annotation.core.kinds import STEPS
from annotation.importers import FORMATS, HEAD_BYTES, by_name, kind_of, sniff
from annotation.importers.decisions.reading import COUNTS, counts_json
from annotation.importers.options import ReadOptions
from annotation.importers.parts.folder_layouts import FolderLog, joined, together
from annotation.importers.preview import preview
from annotation.management.base import OperatorCommand, add_project, counted, existing_file
from annotation.models import ImportFile, Project
from annotation.policies import OPERATOR
from annotation.services import ingest, projects

FILE_READ_BYTES = 1 << 20


class Command(OperatorCommand):
    help = "Import files of trajectories into a project, which is made when it is missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument(
            "files", metavar="FILE", nargs="+", help="a file, a zip archive of files, a folder or a pattern"
        )
        parser.add_argument(
            "--subset", default="", help="the subset's name (default: the file's name up to the first dot)"
        )
        parser.add_argument("--format", default="", help=f"one of {', '.join(FORMATS)} (default: sniffed)")
        parser.add_argument("--replace", action="store_true", help="replace records whose content changed")
        parser.add_argument(
            "--policy-model", action="append", default=[], metavar="INDEX=NAME", help="name a sample index"
        )
        parser.add_argument(
            "--preview", action="store_true", help="say what the files would become, and stop"
        )
        for field in ("task-key", "policy-model"):
            parser.add_argument(
                f"--{field}-at",
                default="",
                metavar="POINTER",
                help="where it is in a record (JSON Pointer)",
            )
        parser.add_argument(
            "--suspend-on-user-turn",
            action="store_true",
            help="let a user message suspend an error run in the subset (right for tasks in several turns)",
        )
        parser.add_argument("--redact", action="store_true", help="take out keys and tokens of known forms")
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        files = [path for name in options["files"] for path in _files(name)]
        logs = together(path.as_posix() for path in files)
        if options["preview"]:
            self._preview(logs, options)
            return
        names = _policy_models(options["policy_model"])
        slug = options["project"]
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            kind = _kind(logs[0], options["format"])
            project = projects.create_project(actor=OPERATOR, name=slug, slug=slug, kind=kind)
        done, refused = [], list[str]()
        for log in logs:
            try:
                sources, members = self._import(project, log, names, options)
            except TristepError as error:
                # the report of a refused file names it
                named = isinstance(error, ImportRefused)
                refused.append(error.message if named else f"{_name(log)}: {error.message}")
                self._report(_name(log), error)
                if len(logs) > 1:
                    self.stderr.write(refused[-1])
                continue
            for member in members:
                refused.append(member)
                self.stderr.write(member)
            for source in sources:
                done.append(_row(source))
                self.summary(_sentence(source))
                if source.offers_suspension:
                    self.summary(
                        f"{source.target.name}: most of these are tasks in several turns that stand alone; "
                        "consider --suspend-on-user-turn, or the subset's setting."
                    )
        if options["json"]:
            self.document({"project": slug, "files": done, "refused": len(refused), **_summed(done)})
        if refused:
            several = (
                f"{len(refused)} of {counted(len(logs), 'file')} refused; nothing of these was imported."
            )
            raise CommandError(refused[0] if len(logs) == 1 else several)

    def _import(
        self, project: Project, log: FolderLog, names: dict[int, str], options: dict[str, Any]
    ) -> tuple[list[ImportFile], list[str]]:
        """Files imported from a file or an archive, and why members of the archive were not."""
        received = ingest.receive_upload(
            actor=OPERATOR,
            project=project,
            subset=options["subset"] or ingest.default_subset(_name(log)),
            filename=_name(log),
            chunks=joined(log, _blocks),
            format=options["format"],
            replace=options["replace"],
            policy_models=names,
            options=ReadOptions.of(options),
            enqueue=False,
        )
        alone = len(received.files) == 1 and not received.refused
        done, refused = [], [f"{name}: {reason}" for name, reason in received.refused]
        for source in received.files:
            try:
                done.append(self._run(source, options["suspend_on_user_turn"]))
            except TristepError as error:
                if alone:
                    raise
                refused.append(error.message)
        return done, refused

    def _run(self, source: ImportFile, suspend: bool) -> ImportFile:
        with tqdm(
            total=source.size,
            unit="B",
            unit_scale=True,
            desc=source.filename,
            leave=False,
            disable=not sys.stderr.isatty(),
        ) as bar:
            done = ingest.run_import(source_id=source.pk, progress=lambda done, _: bar.update(done - bar.n))
        if suspend:
            done.subset = projects.update_subset(
                actor=OPERATOR, subset=done.target, suspend_on_user_turn=True
            )
        return done

    def _preview(self, logs: list[FolderLog], options: dict[str, Any]) -> None:
        """Print a preview of each file; nothing is stored."""
        for log in logs:
            context = ingest.read_context(_name(log), _policy_models(options["policy_model"]))
            with _opened(log) as stream:
                shown = preview(stream, context, format=options["format"], options=ReadOptions.of(options))
            more = "" if shown.whole else " at least"
            self.stdout.write(
                f"{_name(log)}: {shown.importer.title}, recognised by {shown.importer.recognised_by};"
                f"{more} {counted(shown.drafts, 'trajectory')}, {counted(shown.steps, 'step')}."
            )
            if shown.first is not None:
                first = shown.first
                self.stdout.write(f"  first: {first.record_id}, task {first.task_key}, {first.policy_model}")
                self.stdout.write(f"  question: {' '.join(first.question.split())[:200]}")
            for what, count in sorted(context.notes.items()):
                self.stdout.write(f"  {what}: {count:,}")
            for what in sorted(context.left_out):
                self.stdout.write(f"  left out: {what}")
            for error in shown.errors:
                self.stdout.write(f"  {error}")

    def _report(self, name: str, error: TristepError) -> None:
        """Every finding with its place."""
        for item in error.report.get("errors", []) if isinstance(error, ImportRefused) else []:
            place = f"{name}:{item['line']}" if item["line"] else name
            field = f" {item['field']}:" if item["field"] else ""
            self.stderr.write(f"{place}:{field} {item['reason']}")


def _name(log: FolderLog) -> str:
    """The name of a log: its file, or the folder of its files and the one around it."""
    path = Path(log.name)
    return f"{path.parent.name} › {path.name}".removeprefix(" › ") if log.parts else path.name


def _kind(log: FolderLog, format: str) -> str:
    """The kind of project that a file belongs into; steps where its format cannot be told (importing it says
    why)."""
    if format:
        return kind_of(by_name(format)).name
    try:
        with _opened(log) as stream:
            return kind_of(sniff(stream.read(HEAD_BYTES))).name
    except Invalid:
        return STEPS.name


@contextmanager
def _opened(log: FolderLog) -> Iterator[BinaryIO]:
    """A file of the bytes of a log; of one in several files, one without a name."""
    if not log.parts:
        with Path(log.first).open("rb") as file:
            yield file
        return
    with TemporaryFile() as whole:
        for block in joined(log, _blocks):
            whole.write(block)
        whole.seek(0)
        yield whole


def _files(name: str) -> list[Path]:
    """The file of that name, the files in a folder of that name, or those that the pattern names. Raises
    CommandError when there are none."""
    path = Path(name)
    if path.is_dir():
        inside = (file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        files = sorted(inside)
    elif path.exists() or not has_magic(name):
        files = [existing_file(name)]
    else:
        files = sorted(file for file in _matching(path) if file.is_file())
    if not files:
        raise CommandError(f"There is no file {name}.")
    return files


def _matching(pattern: Path) -> Iterator[Path]:
    root = Path(pattern.anchor or ".")
    return root.glob(str(pattern.relative_to(pattern.anchor)))


def _sentence(source: ImportFile) -> str:
    return (
        f"{source.filename}: {counted(source.created_count + source.replaced_count, 'trajectory')} imported "
        f"({source.created_count:,} new, {source.replaced_count:,} replaced), "
        f"{source.unchanged_count:,} unchanged, {counted(source.step_count, 'step')}."
    )


def _blocks(path: str) -> Iterator[bytes]:
    with Path(path).open("rb") as file:
        while block := file.read(FILE_READ_BYTES):
            yield block


def _policy_models(pairs: list[str]) -> dict[int, str]:
    names = {}
    for pair in pairs:
        index, _, name = pair.partition("=")
        if not index.isdecimal() or not name:
            raise CommandError(f"--policy-model {pair}: write INDEX=NAME, for example 0=Qwen3-4B.")
        names[int(index)] = name
    return names


def _row(source: ImportFile) -> dict[str, Any]:
    return {
        "file": source.filename,
        "subset": source.target.name,
        "format": source.format,
        "sha256": source.sha256,
        "new": source.created_count,
        "unchanged": source.unchanged_count,
        "replaced": source.replaced_count,
        "steps": source.step_count,
        "offers_suspension": source.offers_suspension,
        **counts_json(source.notes),
    }


def _summed(rows: list[dict[str, Any]]) -> dict[str, int]:
    """The counts of all files of decisions together."""
    return {
        name: sum(row.get(name, 0) for row in rows) for name in COUNTS if any(name in row for row in rows)
    }
