"""The chain of the audit log, and the triggers that keep both as they were written.

Rows that are there are chained as they stand, in the order of their ids.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation.core import audit_chain
from annotation.models import frozen


def chain(apps, schema_editor):
    """Not by the service, which may change: the rows and the chain are this migration's."""
    event, link = apps.get_model("annotation", "AuditEvent"), apps.get_model("annotation", "AuditLink")
    sha256, links = audit_chain.FIRST, []
    rows = event.objects.order_by("pk").values_list(*audit_chain.FIELDS)
    for position, row in enumerate(rows.iterator(), 1):
        sha256 = audit_chain.linked(sha256, row)
        links.append(link(event_id=row[0], position=position, sha256=sha256))
        if len(links) == 500:
            link.objects.bulk_create(links)
            links.clear()
    link.objects.bulk_create(links)
    frozen.install(schema_editor.connection, (*frozen.RELEASES, *frozen.LOG))


def unchain(apps, schema_editor):
    frozen.lift(schema_editor.connection, frozen.LOG)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_schema")]

    operations = [
        migrations.CreateModel(
            "AuditLink",
            [
                (
                    "event",
                    models.OneToOneField(
                        "annotation.auditevent",
                        django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="link",
                        serialize=False,
                    ),
                ),
                ("position", models.PositiveBigIntegerField(unique=True)),
                ("sha256", models.CharField(max_length=64)),
            ],
        ),
        migrations.AlterField(
            "AuditEvent",
            "actor",
            models.ForeignKey(
                settings.AUTH_USER_MODEL, django.db.models.deletion.PROTECT, null=True, related_name="+"
            ),
        ),
        migrations.AlterField(
            "AuditEvent",
            "project",
            models.ForeignKey(
                "annotation.project",
                django.db.models.deletion.PROTECT,
                blank=True,
                null=True,
                related_name="audit_events",
            ),
        ),
        migrations.RunPython(chain, unchain),
    ]
