"""Django's command line, for manage.py and for `tristep manage`."""

import os
import sys

from config.server.loading import loading


def main() -> None:
    """Run the command of `sys.argv`; one sentence for an environment that cannot be."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
    from config.env import BadEnvironment

    try:
        with loading():
            import django
            from django.core.management import execute_from_command_line

            django.setup()
        execute_from_command_line(sys.argv)
    except BadEnvironment as error:
        sys.exit(str(error))
