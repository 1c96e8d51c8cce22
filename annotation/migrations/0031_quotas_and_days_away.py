"""Quotas of members, and days on which they are away."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0030_gold"),
    ]

    operations = [
        migrations.CreateModel(
            name="DaysAway",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("first", models.DateField()),
                ("last", models.DateField()),
                (
                    "membership",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="days_away",
                        to="annotation.membership",
                    ),
                ),
            ],
            options={
                "ordering": ("membership", "first", "pk"),
                "constraints": [
                    models.UniqueConstraint(fields=("membership", "first", "last"), name="days_away_once"),
                    models.CheckConstraint(
                        condition=models.Q(("last__gte", models.F("first"))), name="days_away_in_order"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Quota",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("most", models.PositiveIntegerField()),
                (
                    "membership",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quotas",
                        to="annotation.membership",
                    ),
                ),
                (
                    "subset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.subset",
                    ),
                ),
            ],
            options={
                "ordering": ("membership", "subset__name"),
                "constraints": [models.UniqueConstraint(fields=("membership", "subset"), name="quota_once")],
            },
        ),
    ]
