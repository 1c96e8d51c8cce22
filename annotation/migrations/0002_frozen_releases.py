"""Install the triggers that keep releases frozen, on whichever database this is."""

from django.db import migrations

from annotation.models import frozen


def forwards(apps, schema_editor):
    frozen.install(schema_editor.connection)


def backwards(apps, schema_editor):
    frozen.lift(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]

    operations = [migrations.RunPython(forwards, backwards)]
