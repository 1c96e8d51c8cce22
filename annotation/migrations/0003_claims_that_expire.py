"""Claims that expire: when they were last used and warned of, why they ended, and a project's limits on them.

Claims from before count as used now.
"""

import django.core.validators
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0002_letters_of_cases"),
    ]

    operations = [
        migrations.AddField(
            model_name="assignment",
            name="expiry_reason",
            field=models.CharField(blank=True, max_length=12),
        ),
        migrations.AddField(
            model_name="assignment",
            name="last_used_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="assignment",
            name="warned_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="project",
            name="claim_days",
            field=models.PositiveSmallIntegerField(
                blank=True,
                default=14,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(365),
                ],
                verbose_name="days after which an unused claim expires",
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="claim_limit",
            field=models.PositiveSmallIntegerField(
                default=2,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(100),
                ],
                verbose_name="unfinished trajectories a person may hold",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state", "open")), fields=["last_used_at"], name="assignment_unused"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("expiry_reason__in", ["left", "taken_back", "unused"]), ("state", "expired")),
                    models.Q(models.Q(("state", "expired"), _negated=True), ("expiry_reason", "")),
                    _connector="OR",
                ),
                name="assignment_expired_has_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("claim_limit__gte", 1), ("claim_limit__lte", 100)),
                name="project_claim_limit_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("claim_days__isnull", True),
                    models.Q(("claim_days__gte", 1), ("claim_days__lte", 365)),
                    _connector="OR",
                ),
                name="project_claim_days_in_range",
            ),
        ),
    ]
