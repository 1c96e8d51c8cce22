"""On SQLite, records whose release has no row yet may be deleted: what a killed freeze left."""

from django.db import migrations

from annotation.models import frozen


def freeze_releases(apps, schema_editor):
    frozen.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_signatures"),
    ]

    operations = [
        migrations.RunPython(freeze_releases, migrations.RunPython.noop),
    ]
