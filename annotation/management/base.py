"""The base of our commands: the operator, one clear sentence on failure, one summary line on
stderr."""

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseFailure
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from annotation.core.errors import ImportRefused, TristepError
from annotation.core.figures.measure import Measure
from annotation.models import Project, Release


class OperatorCommand(BaseCommand):
    """A command whose `run` may raise what services raise.

    `--json`, where a command offers it, puts one JSON document on stdout and nothing else; the summary goes
    to stderr.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except ImportRefused as refused:
            for error in refused.report.get("errors", []):
                place = f"line {error['line']}" + (f": {error['field']}" if error["field"] else "")
                self.stderr.write(f"{place}: {error['reason']}")
            raise CommandError(refused.message) from refused
        except TristepError as error:
            fields = getattr(error, "fields", {})
            detail = " ".join(
                f"{name}: {reason}" for name, reason in fields.items() if reason != error.message
            )
            raise CommandError(" ".join(part for part in (error.message, detail) if part)) from error
        except BrokenPipeError:
            # whoever reads the output (`… | head`) has had enough; at exit nothing is written there, either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise CommandError(f"{place}{error.strerror or error}.") from error
        except (OperationalError, ProgrammingError, InterfaceError) as error:
            if not _is_set_up(error):
                unready = "The database is not set up yet: run `manage.py migrate` first."
                raise CommandError(unready) from error
            if isinstance(error, ProgrammingError):
                raise
            raise CommandError(_words(error)) from error

    def run(self, **options: Any) -> None:
        """Do the work; keyword arguments are the parsed options."""
        raise CommandError("this command does nothing")

    def summary(self, text: str) -> None:
        """One line for the person at the terminal."""
        self.stderr.write(text)

    def document(self, value: Any) -> None:
        """One JSON document on stdout, numbers unrounded."""
        self.stdout.write(json.dumps(value, ensure_ascii=True, allow_nan=False))


def _is_set_up(error: DatabaseFailure) -> bool:
    """Has the database our tables? Raises CommandError, with what `error` says, when it does not answer."""
    connection.close_if_unusable_or_obsolete()
    try:
        return Project._meta.db_table in connection.introspection.table_names()
    except DatabaseFailure:
        raise CommandError(_words(error)) from error


def _words(error: DatabaseFailure) -> str:
    return f"The database does not answer: {' '.join(str(error).split())}"


def add_project(parser: ArgumentParser) -> None:
    """The PROJECT argument: a slug."""
    parser.add_argument("project", metavar="PROJECT", help="the project's slug")


def add_release(parser: ArgumentParser) -> None:
    """PROJECT and VERSION."""
    add_project(parser)
    parser.add_argument("release_version", metavar="VERSION", help="the release's version")


def add_label_file(parser: ArgumentParser) -> None:
    """PROJECT, FILE and --subset, of commands that read a file whose lines name records of a project."""
    add_project(parser)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--subset", default="", help="look for the records in this subset only")


def find_project(slug: str) -> Project:
    """The project of that slug. Raises CommandError."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project “{slug}”.")
    return project


def find_release(slug: str, version: str) -> Release:
    """The release of that version. Raises CommandError."""
    release = Release.objects.filter(project__slug=slug, version=version).select_related("project").first()
    if release is None:
        raise CommandError(f"There is no release “{version}” of a project “{slug}”.")
    return release


def existing_file(name: str) -> Path:
    """A path to a readable file, for argparse. Raises CommandError."""
    path = Path(name)
    if not path.is_file():
        raise CommandError(f"There is no file {name}.")
    return path


def counted(n: int, noun: str) -> str:
    """A number with its noun: "1 trajectory", "2,000 trajectories"."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else many}"


def measure_text(measure: Measure) -> str:
    """A figure with its interval, or the reason why it is undefined."""
    if measure.value is None:
        return f"–  ({measure.reason})"
    interval = measure.interval
    if interval is None or interval.low is None or interval.high is None:
        return f"{measure.value:.4f}"
    return f"{measure.value:.4f}  [{interval.low:.4f}, {interval.high:.4f}]"
