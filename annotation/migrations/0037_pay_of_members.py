"""A rate of pay of a member, in the place of the project's."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0036_active_time_summed"),
    ]

    operations = [
        migrations.AddField(
            model_name="qualification",
            name="pay_rate",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                max_digits=10,
                null=True,
                validators=[django.core.validators.MinValueValidator(0)],
                verbose_name="pay",
            ),
        ),
        migrations.AddConstraint(
            model_name="qualification",
            constraint=models.CheckConstraint(
                condition=models.Q(("pay_rate__isnull", True), ("pay_rate__gte", 0), _connector="OR"),
                name="qualification_pay_not_negative",
            ),
        ),
    ]
