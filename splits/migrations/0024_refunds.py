from django.db import migrations, models
from django.db.models import Q

from tripcompanion.database.operations import AddCheckWithoutLock


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('splits', '0023_itemized'),
    ]

    operations = [
        migrations.RemoveConstraint('expense', 'expense_positive'),
        migrations.RemoveConstraint('payer', 'payer_positive'),
        migrations.RemoveConstraint('split', 'split_not_negative'),
        AddCheckWithoutLock(
            'expense',
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0, entered_minor__gt=0) | Q(amount_minor__lt=0, entered_minor__lt=0),
                name='expense_amounts_of_one_sign',
            ),
        ),
        AddCheckWithoutLock(
            'payer',
            models.CheckConstraint(
                condition=Q(amount_minor__gte=0, entered_minor__gt=0) | Q(amount_minor__lte=0, entered_minor__lt=0),
                name='payer_amounts_of_one_sign',
            ),
        ),
    ]
