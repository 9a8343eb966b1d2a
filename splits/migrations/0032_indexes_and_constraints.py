from django.db import migrations, models
from django.db.models import Q

from tripcompanion.database.operations import (
    AddCheckWithoutLock,
    AddIndexWithoutLock,
    RemoveForeignKeyIndex,
    RemoveIndexWithoutLock,
)


class Migration(migrations.Migration):
    """Indexes of lists and sums, and constraints: amounts may be negative, but of one sign."""

    atomic = False

    replaces = [
        ('splits', '0017_open_amounts'), ('splits', '0019_debts_of_splits'),
        ('splits', '0024_refunds'), ('splits', '0025_undivided'),
        ('splits', '0026_split_of_participant'), ('splits', '0028_settlement_between'),
        ('splits', '0030_foreign_settlements'), ('splits', '0032_indexes_of_payments'),
    ]

    dependencies = [
        ('splits', '0030_rates_and_closings_of_settlements'),
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
        AddCheckWithoutLock(
            'settlement',
            models.CheckConstraint(
                condition=Q(foreign_minor=None, foreign_currency='', exchange_rate=None)
                | Q(
                    foreign_minor__isnull=False,
                    foreign_minor__gt=0,
                    foreign_currency__gt='',
                    exchange_rate__isnull=False,
                    exchange_rate__gt=0,
                ),
                name='settlement_entered_with_rate',
            ),
        ),
        AddIndexWithoutLock(
            model_name='debt',
            index=models.Index(condition=models.Q(('open_minor__gt', 0)), fields=['trip', 'debtor', 'creditor'], name='debt_open'),
        ),
        AddIndexWithoutLock(
            model_name='settlement',
            index=models.Index(condition=models.Q(('credit_minor__gt', 0)), fields=['trip', 'sender', 'receiver'], name='settlement_credit'),
        ),
        AddIndexWithoutLock('debt', models.Index(fields=['trip', 'split'], name='debt_of_split')),
        RemoveForeignKeyIndex('debt', 'trip'),
        AddIndexWithoutLock('expense', models.Index(condition=models.Q(('divided', False)), fields=['trip', 'expense_date'], name='expense_undivided')),
        AddIndexWithoutLock('split', models.Index(fields=['participant', 'trip', 'expense', 'amount_minor'], name='split_of_participant')),
        RemoveForeignKeyIndex('split', 'participant'),
        AddIndexWithoutLock('settlement', models.Index(fields=['closing', 'sender', 'receiver'], condition=Q(closing__isnull=False), name='settlement_offsets')),
        AddIndexWithoutLock('settlement', models.Index(fields=['trip', '-settled_on', '-id'], condition=Q(closing=None), name='settlement_latest')),
        AddIndexWithoutLock('settlement', models.Index(fields=['sender', 'receiver', 'trip', 'closing', 'amount_minor'], name='settlement_sent')),
        RemoveIndexWithoutLock('settlement', 'settlement_newest'),
        RemoveForeignKeyIndex('settlement', 'sender'),
    ]
