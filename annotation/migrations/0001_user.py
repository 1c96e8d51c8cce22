"""The table of people, alone: other apps refer to it, and make their tables before 0002 makes its many."""

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    initial = True

    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    replaces = [("annotation", "0001_schema")]

    operations = [
        migrations.CreateModel(
            "User",
            [
                ("id", models.BigAutoField("ID", auto_created=True, primary_key=True, serialize=False)),
                ("password", models.CharField("password", max_length=128)),
                ("last_login", models.DateTimeField("last login", blank=True, null=True)),
                (
                    "is_superuser",
                    models.BooleanField(
                        "superuser status",
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        "username",
                        max_length=150,
                        unique=True,
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        validators=[UnicodeUsernameValidator()],
                        error_messages={"unique": "A user with that username already exists."},
                    ),
                ),
                ("first_name", models.CharField("first name", max_length=150, blank=True)),
                ("last_name", models.CharField("last name", max_length=150, blank=True)),
                ("email", models.EmailField("email address", max_length=254, blank=True)),
                (
                    "is_staff",
                    models.BooleanField(
                        "staff status",
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        "active",
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                    ),
                ),
                ("date_joined", models.DateTimeField("date joined", default=timezone.now)),
                ("display_name", models.CharField("display name", max_length=120, blank=True)),
                ("time_zone", models.CharField("time zone", max_length=64, blank=True)),
                ("language", models.CharField("language", max_length=16, blank=True)),
                ("keymap", models.JSONField("keys", blank=True, default=dict)),
                (
                    "theme",
                    models.CharField(
                        "theme",
                        max_length=8,
                        blank=True,
                        default="",
                        choices=[("", "Follow the system"), ("light", "Light"), ("dark", "Dark")],
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        "auth.group",
                        verbose_name="groups",
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        "auth.permission",
                        verbose_name="user permissions",
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                    ),
                ),
                ("mail_notices", models.BooleanField("mail me notices", default=True)),
                ("admin_from_groups", models.BooleanField(default=False, editable=False)),
            ],
            options={"verbose_name": "user", "verbose_name_plural": "users"},
        ),
    ]
