"""Pools of items for tests, and attempts that an admin has granted again."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0033_turns_of_subsets"),
    ]

    operations = [
        migrations.AddField(
            model_name="proficiencytest",
            name="per_attempt",
            field=models.PositiveSmallIntegerField(
                blank=True,
                null=True,
                validators=[django.core.validators.MinValueValidator(10)],
                verbose_name="items of an attempt",
            ),
        ),
        migrations.AddField(
            model_name="testattempt",
            name="waived",
            field=models.BooleanField(default=False),
        ),
        migrations.AddConstraint(
            model_name="proficiencytest",
            constraint=models.CheckConstraint(
                condition=models.Q(("per_attempt__isnull", True), ("per_attempt__gte", 10), _connector="OR"),
                name="test_items_in_range",
            ),
        ),
    ]
