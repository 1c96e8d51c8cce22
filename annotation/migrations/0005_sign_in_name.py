"""A name to sign in with, which others may have too; those who are there go on with their user names."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_token_scopes")]

    operations = [
        migrations.AddField(
            "User",
            "sign_in_name",
            models.CharField(
                blank=True,
                db_index=True,
                default="",
                max_length=150,
                verbose_name="name to sign in with",
            ),
        ),
    ]
