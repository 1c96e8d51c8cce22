"""Places that are kept for people."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0026_qualifications"),
    ]

    operations = [
        migrations.CreateModel(
            name="Reservation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.RemoveIndex(
            model_name="trajectory",
            name="trajectory_claimable",
        ),
        migrations.AddField(
            model_name="trajectory",
            name="reserved",
            field=models.SmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("free_slots__gt", models.F("reserved")), ("live", True)),
                fields=["project", "position"],
                name="trajectory_claimable",
            ),
        ),
        migrations.AddConstraint(
            model_name="trajectory",
            constraint=models.CheckConstraint(
                condition=models.Q(("reserved__gte", 0), ("reserved__lte", models.F("free_slots"))),
                name="trajectory_reserved_fits",
            ),
        ),
        migrations.AddField(
            model_name="reservation",
            name="annotator",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reservations",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="reservation",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="annotation.project",
            ),
        ),
        migrations.AddField(
            model_name="reservation",
            name="trajectory",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reservations",
                to="annotation.trajectory",
            ),
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(fields=["annotator", "project"], name="reservation_of_person"),
        ),
        migrations.AddConstraint(
            model_name="reservation",
            constraint=models.UniqueConstraint(fields=("trajectory", "annotator"), name="reservation_once"),
        ),
    ]
