"""The kind of a project, which nothing changes once it is there."""

from django.db import migrations, models
from django.db.models import Q

from annotation.models import frozen


def keep(apps, schema_editor):
    frozen.install(schema_editor.connection, (frozen.PROJECT,))


def give_up(apps, schema_editor):
    frozen.lift(schema_editor.connection, (frozen.PROJECT,))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_unlabelled_part")]

    operations = [
        migrations.AddField(
            "project",
            "kind",
            models.CharField(
                "kind",
                choices=[("steps", "steps"), ("decisions", "decisions")],
                default="steps",
                editable=False,
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(name="project_kind_known", condition=Q(kind__in=["steps", "decisions"])),
        ),
        migrations.AddConstraint(
            "project",
            models.CheckConstraint(
                name="project_carry_forward_fits",
                condition=Q(carry_forward=False) | Q(kind__in=["steps"]),
            ),
        ),
        migrations.RunPython(keep, give_up),
    ]
