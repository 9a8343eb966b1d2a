from django.db import migrations, models
from django.db.models import Q

from tripcompanion.database.operations import AddCheckWithoutLock


class Migration(migrations.Migration):
    """Refunds make sums negative."""

    atomic = False

    dependencies = [
        ('trips', '0011_journal_and_invitations'),
    ]

    operations = [
        AddCheckWithoutLock(
            'member',
            models.CheckConstraint(
                condition=Q(paid_minor__gte=-9223372036854775807, share_minor__gte=-9223372036854775807),
                name='member_negative_sums_in_64_bits',
            ),
        ),
    ]
