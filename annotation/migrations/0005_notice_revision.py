"""The change of mind that a notice tells of; those that are there say none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_token_scopes")]

    operations = [
        migrations.AddField(
            "Notice",
            "revision",
            models.ForeignKey(
                "annotation.Revision",
                models.CASCADE,
                null=True,
                blank=True,
                related_name="+",
                db_index=False,
            ),
        ),
    ]
