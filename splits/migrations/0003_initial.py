import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('splits', '0002_initial'),
        ('trips', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='debt',
            name='creditor',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='claims', to=settings.AUTH_USER_MODEL, verbose_name='creditor'),
        ),
        migrations.AddField(
            model_name='debt',
            name='debtor',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='debts', to=settings.AUTH_USER_MODEL, verbose_name='debtor'),
        ),
        migrations.AddField(
            model_name='debt',
            name='trip',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='debts', to='trips.trip', verbose_name='trip'),
        ),
        migrations.AddField(
            model_name='allocation',
            name='debt',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='allocations', to='splits.debt'),
        ),
        migrations.AddField(
            model_name='expense',
            name='created_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='recorded by'),
        ),
        migrations.AddField(
            model_name='expense',
            name='trip',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='expenses', to='trips.trip', verbose_name='trip'),
        ),
        migrations.AddField(
            model_name='payer',
            name='expense',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='payers', to='splits.expense'),
        ),
        migrations.AddField(
            model_name='payer',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='rate',
            constraint=models.CheckConstraint(condition=models.Q(('per_euro__gt', 0)), name='rate_positive'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='created_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='recorded by'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='receiver',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='settlements_received', to=settings.AUTH_USER_MODEL, verbose_name='receiver'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='sender',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='settlements_sent', to=settings.AUTH_USER_MODEL, verbose_name='sender'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='trip',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='settlements', to='trips.trip', verbose_name='trip'),
        ),
        migrations.AddField(
            model_name='closedsum',
            name='settlement',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='closed_sums', to='splits.settlement'),
        ),
        migrations.AddField(
            model_name='closedperiod',
            name='settlement',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='closed_periods', to='splits.settlement'),
        ),
        migrations.AddField(
            model_name='allocation',
            name='closed_by',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='closings', to='splits.settlement'),
        ),
        migrations.AddField(
            model_name='allocation',
            name='settlement',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='allocations', to='splits.settlement'),
        ),
        migrations.AddField(
            model_name='split',
            name='expense',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='splits', to='splits.expense'),
        ),
        migrations.AddField(
            model_name='split',
            name='participant',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='splits', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='settlement',
            name='split',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='settlements', to='splits.split'),
        ),
        migrations.AddField(
            model_name='debt',
            name='split',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='debts', to='splits.split'),
        ),
        migrations.AddIndex(
            model_name='expense',
            index=models.Index(fields=['trip', '-expense_date', '-id'], name='expense_newest'),
        ),
        migrations.AddIndex(
            model_name='expense',
            index=models.Index(fields=['trip', 'amount_minor'], name='expense_by_amount'),
        ),
        migrations.AddIndex(
            model_name='expense',
            index=models.Index(fields=['trip', 'created_at'], name='expense_by_creation'),
        ),
        migrations.AddIndex(
            model_name='expense',
            index=models.Index(fields=['created_at', 'currency', 'entered_minor'], name='expense_sums_by_day'),
        ),
        migrations.AddConstraint(
            model_name='expense',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0), ('entered_minor__gt', 0)), name='expense_positive'),
        ),
        migrations.AddConstraint(
            model_name='expense',
            constraint=models.CheckConstraint(condition=models.Q(('exchange_rate', None), ('exchange_rate__gt', 0), _connector='OR'), name='expense_rate_positive'),
        ),
        migrations.AddConstraint(
            model_name='expense',
            constraint=models.UniqueConstraint(fields=('trip', 'number'), name='expense_number_in_trip'),
        ),
        migrations.AddConstraint(
            model_name='payer',
            constraint=models.UniqueConstraint(fields=('expense', 'user'), name='payer_once_in_expense'),
        ),
        migrations.AddConstraint(
            model_name='payer',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gte', 0), ('entered_minor__gt', 0)), name='payer_positive'),
        ),
        migrations.AddConstraint(
            model_name='closedsum',
            constraint=models.UniqueConstraint(fields=('settlement', 'member'), name='closed_sum_once_for_a_member'),
        ),
        migrations.AddConstraint(
            model_name='closedsum',
            constraint=models.CheckConstraint(condition=models.Q(('owed_minor__gte', 0)), name='closed_sum_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='closedperiod',
            constraint=models.UniqueConstraint(fields=('trip', 'number'), name='period_closed_once'),
        ),
        migrations.AddIndex(
            model_name='allocation',
            index=models.Index(condition=models.Q(('closed_by__isnull', False)), fields=['closed_by'], name='allocation_closed_by'),
        ),
        migrations.AddConstraint(
            model_name='allocation',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='allocation_positive'),
        ),
        migrations.AddConstraint(
            model_name='allocation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_by', None), ('debt__isnull', False), ('settlement__isnull', False)), models.Q(('closed_by__isnull', False), ('debt', None), ('settlement__isnull', False)), models.Q(('closed_by__isnull', False), ('debt__isnull', False), ('settlement', None)), _connector='OR'), name='allocation_covers_or_closes'),
        ),
        migrations.AddConstraint(
            model_name='split',
            constraint=models.UniqueConstraint(fields=('expense', 'participant'), name='split_once_for_a_participant'),
        ),
        migrations.AddConstraint(
            model_name='split',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gte', 0)), name='split_not_negative'),
        ),
        migrations.AddIndex(
            model_name='settlement',
            index=models.Index(fields=['trip', '-settled_on', '-id'], name='settlement_newest'),
        ),
        migrations.AddIndex(
            model_name='settlement',
            index=models.Index(condition=models.Q(('credit_minor__gt', 0)), fields=['trip', 'sender', 'receiver', 'period'], name='settlement_credit_since'),
        ),
        migrations.AddConstraint(
            model_name='settlement',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='settlement_positive'),
        ),
        migrations.AddConstraint(
            model_name='settlement',
            constraint=models.CheckConstraint(condition=models.Q(('credit_minor__gte', 0), ('credit_minor__lte', models.F('amount_minor'))), name='settlement_credit_within_amount'),
        ),
        migrations.AddConstraint(
            model_name='settlement',
            constraint=models.CheckConstraint(condition=models.Q(('sender', models.F('receiver')), _negated=True), name='settlement_between_two_people'),
        ),
        migrations.AddIndex(
            model_name='debt',
            index=models.Index(condition=models.Q(('open_minor__gt', 0)), fields=['debtor', 'trip', 'period', 'creditor'], name='debt_open_since'),
        ),
        migrations.AddConstraint(
            model_name='debt',
            constraint=models.UniqueConstraint(fields=('split', 'creditor'), name='debt_once_to_a_creditor'),
        ),
        migrations.AddConstraint(
            model_name='debt',
            constraint=models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='debt_positive'),
        ),
        migrations.AddConstraint(
            model_name='debt',
            constraint=models.CheckConstraint(condition=models.Q(('open_minor__gte', 0), ('open_minor__lte', models.F('amount_minor'))), name='debt_covered_within_amount'),
        ),
        migrations.AddConstraint(
            model_name='debt',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('covered_at__isnull', False), ('open_minor', 0)), models.Q(('covered_at', None), ('open_minor__gt', 0)), _connector='OR'), name='debt_covered_at_when_covered'),
        ),
        migrations.AddConstraint(
            model_name='debt',
            constraint=models.CheckConstraint(condition=models.Q(('debtor', models.F('creditor')), _negated=True), name='debt_between_two_people'),
        ),
    ]
