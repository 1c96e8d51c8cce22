"""How often two people have met; counted of what they have already."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COUNTED = """
INSERT INTO annotation_meeting (project_id, first_id, second_id, number)
SELECT one.project_id, one.annotator_id, other.annotator_id, count(*)
FROM annotation_assignment AS one
JOIN annotation_assignment AS other
  ON other.trajectory_id = one.trajectory_id AND other.annotator_id > one.annotator_id
WHERE one.slot IS NOT NULL AND other.slot IS NOT NULL
GROUP BY one.project_id, one.annotator_id, other.annotator_id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0027_reservations"),
    ]

    operations = [
        migrations.CreateModel(
            name="Meeting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "first",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.project",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "second"], name="meeting_of_second")],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "first", "second"), name="meeting_once"),
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))), name="meeting_in_order"
                    ),
                ],
            },
        ),
        migrations.RunSQL(COUNTED, migrations.RunSQL.noop),
    ]
