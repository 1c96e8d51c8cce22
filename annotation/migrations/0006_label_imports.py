"""Imports of people's labels: they belong to no subset when their records are looked for everywhere."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_notice_revision")]

    operations = [
        migrations.AlterField(
            "ImportFile",
            "subset",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="imports",
                to="annotation.subset",
            ),
        ),
        migrations.AddConstraint(
            "ImportFile",
            models.CheckConstraint(
                condition=Q(subset__isnull=False) | Q(format="labels"), name="import_of_runs_has_a_subset"
            ),
        ),
    ]
