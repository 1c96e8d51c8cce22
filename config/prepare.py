"""Preparations of `make run` before it serves: migrate, collect static files, load the demo, make a first
admin.

`python -m config.prepare` writes one JSON document: {"accounts": [{"username", "password", "who"}]},
the accounts that it made, or whose password everybody may know.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from typing import Any

import django
from django.core.management.base import CommandError
from django.db import DatabaseError

from config.bucket import check as bucket_check
from config.env import BadEnvironment
from config.server.loading import loading


def say(sentence: str) -> None:
    """Progress, on stderr."""
    print(sentence, file=sys.stderr, flush=True)


def prepare(*, known_passwords: bool, demo: bool = True, fit: bool = False) -> list[dict[str, str]]:
    """Bring the database and the static files up to date; return the new accounts. Without `demo` an empty
    database stays without a project; `fit` does for its releases what a worker would do."""
    from django.core.management import call_command

    from annotation.models import Project, Release
    from annotation.services import evaluate

    if sentence := bucket_check.problem():
        raise CommandError(sentence)
    say("Bringing the database up to date")
    call_command("check", tags=["database"], databases=["default"], stdout=io.StringIO())
    call_command("migrate", interactive=False, verbosity=0)
    say("Collecting the static files")
    call_command("collectstatic", interactive=False, verbosity=0)

    accounts: list[dict[str, str]] = []
    commands: list[tuple[str, dict[str, bool]]] = [
        ("demo", {"if_empty": True, "known_passwords": known_passwords, "only_passwords": not demo}),
        ("ensure_admin", {}),
    ]
    if demo and not Project.objects.exists():
        say("Loading the demo project")
    for command, options in commands:
        answer = io.StringIO()
        call_command(command, json=True, stdout=answer, **options)
        report: dict[str, Any] = json.loads(answer.getvalue() or "{}")
        accounts += report.get("accounts", [])
    for release in Release.objects.all() if fit else ():
        evaluate.fit_release(release_id=release.pk)
    return accounts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m config.prepare", description=__doc__)
    parser.add_argument("--known-passwords", action="store_true", help="well-known passwords for the demo")
    parser.add_argument("--no-demo", action="store_true", help="leave an empty database empty")
    parser.add_argument("--fit", action="store_true", help="do what a worker would do with the releases")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
    try:
        with loading():
            django.setup()
        accounts = prepare(known_passwords=options.known_passwords, demo=not options.no_demo, fit=options.fit)
    except BadEnvironment as error:
        say(str(error))
        return 1
    except CommandError as error:
        say(str(error))
        return 1
    except DatabaseError as error:
        say(f"{type(error).__name__}: {error}")
        return 1
    json.dump({"accounts": accounts}, sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
