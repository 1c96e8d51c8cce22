"""Triggers that refuse a second row, on every connection: INSERT OR REPLACE from outside changed releases."""

from django.db import migrations

from annotation.models import frozen


def freeze_releases(apps, schema_editor):
    frozen.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_claims_that_expire"),
    ]

    operations = [
        migrations.RunPython(freeze_releases, migrations.RunPython.noop),
    ]
