"""Turns of subsets in the queue: those of before come as others do, after what comes first."""

from django.db import migrations, models

TURN = 16**15
MOVED = [
    f"UPDATE annotation_trajectory SET position = position + {TURN}",
    f"UPDATE annotation_membership SET claim_cursor = claim_cursor + {TURN} WHERE claim_cursor > 0",
]


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0032_active_time"),
    ]

    operations = [
        migrations.AddField(
            model_name="subset",
            name="turn",
            field=models.CharField(
                choices=[("first", "first"), ("normal", "normal"), ("last", "last")],
                default="normal",
                max_length=6,
                verbose_name="turn in the queue",
            ),
        ),
        migrations.AddConstraint(
            model_name="subset",
            constraint=models.CheckConstraint(
                condition=models.Q(("turn__in", ["first", "normal", "last"])), name="subset_turn_known"
            ),
        ),
        migrations.RunSQL(MOVED, migrations.RunSQL.noop),
    ]
