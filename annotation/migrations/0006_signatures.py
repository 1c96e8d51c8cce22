"""Signatures of releases and withdrawals; those from before have none.

Columns that may be null are added in place: no table is remade, and the triggers stay.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_invitations_that_are_answered"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="signature",
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="releasewithdrawal",
            name="signature",
            field=models.TextField(blank=True, null=True),
        ),
    ]
