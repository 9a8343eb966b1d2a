import django.db.models.deletion
import django.utils.timezone
import splits.models.settlement
import users.models.notices
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('splits', '0001_initial'), ('splits', '0002_initial'), ('splits', '0003_initial'),
        ('splits', '0004_merged'), ('splits', '0005_restore'), ('splits', '0006_comments'),
        ('splits', '0007_webhooks'), ('splits', '0008_audit_snapshot'), ('splits', '0009_indexes'),
        ('splits', '0010_payer_trip'), ('splits', '0011_split_trip'),
        ('splits', '0012_allocation_trip'), ('splits', '0013_closedsum_trip'),
        ('splits', '0014_comment_trip'), ('splits', '0015_fill_trips'),
    ]

    initial = True

    dependencies = [
        ('trips', '0001_tables_of_1_0_0'),
        ('users', '0001_accounts_of_1_0_0'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField(verbose_name='started at')),
                ('finished_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='finished at')),
                ('trip_count', models.PositiveIntegerField(verbose_name='trips checked')),
                ('difference_count', models.PositiveIntegerField(verbose_name='differences')),
                ('report', models.TextField(blank=True, default='', verbose_name='first differences')),
                ('snapshot', models.BigIntegerField(editable=False, null=True)),
            ],
            options={
                'verbose_name': 'ledger audit',
                'verbose_name_plural': 'ledger audits',
            },
        ),
        migrations.CreateModel(
            name='Expense',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(editable=False)),
                ('description', models.CharField(max_length=255, verbose_name='description')),
                ('amount_minor', models.BigIntegerField()),
                ('entered_minor', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3, verbose_name='currency')),
                ('exchange_rate', models.DecimalField(blank=True, decimal_places=15, max_digits=24, null=True, verbose_name='exchange rate')),
                ('rate_source', models.CharField(blank=True, default='', max_length=10, verbose_name='source of the rate')),
                ('rate_day', models.DateField(blank=True, null=True, verbose_name='day of the rate')),
                ('expense_date', models.DateField(verbose_name='date')),
                ('category', models.CharField(choices=[('ACCOMMODATION', 'accommodation'), ('FOOD', 'food'), ('TRANSPORT', 'transport'), ('ACTIVITIES', 'activities'), ('OTHER', 'other')], default='OTHER', max_length=13, verbose_name='category')),
                ('split_type', models.CharField(choices=[('EQUAL', 'equally'), ('MANUAL', 'by exact amounts'), ('PERCENTAGE', 'by percentages'), ('SHARES', 'by weights')], max_length=10, verbose_name='split type')),
                ('divided', models.BooleanField(default=True, editable=False)),
                ('receipt_url', models.CharField(blank=True, max_length=2048, null=True, verbose_name='receipt URL')),
                ('notes', models.TextField(blank=True, default='', max_length=2000, verbose_name='notes')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='recorded by')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='expenses', to='trips.trip', verbose_name='trip')),
                ('merged', models.TextField(db_default='', default='', editable=False)),
            ],
            options={
                'verbose_name': 'expense',
                'verbose_name_plural': 'expenses',
                'indexes': [models.Index(fields=['trip', '-expense_date', '-id'], name='expense_newest'), models.Index(fields=['trip', 'amount_minor'], name='expense_by_amount'), models.Index(fields=['trip', 'created_at'], name='expense_by_creation'), models.Index(fields=['created_at', 'currency', 'entered_minor'], name='expense_sums_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0), ('entered_minor__gt', 0)), name='expense_positive'), models.CheckConstraint(condition=models.Q(('exchange_rate', None), ('exchange_rate__gt', 0), _connector='OR'), name='expense_rate_positive'), models.UniqueConstraint(fields=('trip', 'number'), name='expense_number_in_trip')],
            },
        ),
        migrations.CreateModel(
            name='Payer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('entered_minor', models.BigIntegerField()),
                ('expense', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='payers', to='splits.expense')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payments', to=settings.AUTH_USER_MODEL)),
                ('trip', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('expense', 'user'), name='payer_once_in_expense'), models.CheckConstraint(condition=models.Q(('amount_minor__gte', 0), ('entered_minor__gt', 0)), name='payer_positive')],
            },
        ),
        migrations.CreateModel(
            name='Rate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=3, unique=True, verbose_name='currency')),
                ('per_euro', models.DecimalField(decimal_places=6, max_digits=15, verbose_name='units per euro')),
                ('day', models.DateField(verbose_name='day')),
            ],
            options={
                'verbose_name': 'exchange rate',
                'verbose_name_plural': 'exchange rates',
                'constraints': [models.CheckConstraint(condition=models.Q(('per_euro__gt', 0)), name='rate_positive')],
            },
        ),
        migrations.CreateModel(
            name='Split',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('entered_minor', models.BigIntegerField(blank=True, null=True)),
                ('percentage_e4', models.PositiveIntegerField(blank=True, null=True)),
                ('weight_e4', models.PositiveBigIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expense', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='splits', to='splits.expense')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='splits', to=settings.AUTH_USER_MODEL)),
                ('trip', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip')),
            ],
            options={
                'verbose_name': 'split',
                'verbose_name_plural': 'splits',
                'constraints': [models.UniqueConstraint(fields=('expense', 'participant'), name='split_once_for_a_participant'), models.CheckConstraint(condition=models.Q(('amount_minor__gte', 0)), name='split_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='DeletedEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('expense', 'expense'), ('settlement', 'settlement')], max_length=10, verbose_name='type')),
                ('object_id', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3, verbose_name='currency')),
                ('stored_rows', models.TextField()),
                ('deleted_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, verbose_name='deleted at')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deleted_entries', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'deleted entry',
                'verbose_name_plural': 'deleted entries',
                'constraints': [models.UniqueConstraint(fields=('trip', 'kind', 'object_id'), name='deleted_once_in_trip')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(max_length=2000, verbose_name='text')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='written by')),
                ('expense', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='splits.expense', verbose_name='expense')),
                ('trip', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip')),
            ],
            options={
                'verbose_name': 'comment',
                'verbose_name_plural': 'comments',
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(max_length=2048, verbose_name='URL')),
                ('events', models.JSONField(default=list, verbose_name='events')),
                ('state', models.CharField(choices=[('on', 'on'), ('off', 'off')], default='on', max_length=3, verbose_name='state')),
                ('salt', models.CharField(max_length=32)),
                ('former_salt', models.CharField(blank=True, default='', max_length=32)),
                ('former_until', models.DateTimeField(null=True)),
                ('language', models.CharField(default=users.models.notices.current_language, max_length=7)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='next attempt at')),
                ('failures', models.PositiveIntegerField(default=0, verbose_name='failures')),
                ('failing_since', models.DateTimeField(null=True, verbose_name='failing since')),
                ('last_at', models.DateTimeField(null=True, verbose_name='last delivery')),
                ('last_status', models.PositiveSmallIntegerField(null=True, verbose_name='last status')),
                ('claimed_by', models.UUIDField(null=True)),
                ('claimed_until', models.DateTimeField(null=True)),
                ('trip', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='trips.trip', verbose_name='trip')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'webhook',
                'verbose_name_plural': 'webhooks',
                'indexes': [models.Index(fields=['state', 'due_at'], name='webhook_due')],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message_id', models.CharField(max_length=40, verbose_name='message')),
                ('event', models.CharField(choices=[('trip.created', 'trip created'), ('trip.changed', 'trip changed'), ('trip.deleted', 'trip deleted'), ('trip.restored', 'trip restored'), ('trip.code_renewed', 'trip code renewed'), ('member.added', 'member added'), ('member.joined', 'member joined'), ('member.role_changed', 'role changed'), ('member.left', 'member left'), ('member.removed', 'member removed'), ('guest.added', 'guest added'), ('guest.renamed', 'guest renamed'), ('guest.claimed', 'guest claimed'), ('guest.merged', 'guest merged'), ('invitation.created', 'invitation created'), ('invitation.revoked', 'invitation revoked'), ('invitation.accepted', 'invitation accepted'), ('expense.created', 'expense created'), ('expense.changed', 'expense changed'), ('expense.deleted', 'expense deleted'), ('expense.restored', 'expense restored'), ('split.added', 'split added'), ('split.deleted', 'split deleted'), ('split.paid', 'split paid'), ('split.unpaid', 'split unpaid'), ('settlement.created', 'settlement created'), ('settlement.deleted', 'settlement deleted'), ('settlement.restored', 'settlement restored'), ('comment.created', 'comment created'), ('comment.changed', 'comment changed'), ('comment.deleted', 'comment deleted'), ('webhook.test', 'test')], max_length=24, verbose_name='event')),
                ('journal_trip_id', models.BigIntegerField(null=True)),
                ('number', models.BigIntegerField(null=True, verbose_name='number')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('failed', 'failed')], default='waiting', max_length=9, verbose_name='state')),
                ('by_hand', models.BooleanField(default=False, verbose_name='by hand')),
                ('attempts', models.PositiveIntegerField(default=0, verbose_name='attempts')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, verbose_name='created at')),
                ('last_at', models.DateTimeField(null=True, verbose_name='last attempt')),
                ('status', models.PositiveSmallIntegerField(null=True, verbose_name='status')),
                ('error', models.CharField(blank=True, choices=[('', 'none'), ('address', 'host not found or not public'), ('timeout', 'timeout'), ('tls', 'invalid certificate'), ('connection', 'no connection'), ('http', 'invalid response'), ('gone', 'no longer visible')], default='', max_length=10, verbose_name='error')),
                ('duration_ms', models.PositiveIntegerField(null=True, verbose_name='milliseconds')),
                ('webhook', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='splits.webhook')),
            ],
            options={
                'verbose_name': 'delivery',
                'verbose_name_plural': 'deliveries',
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['webhook', 'id'], name='webhook_waiting')],
                'constraints': [models.UniqueConstraint(fields=('webhook', 'journal_trip_id', 'number'), name='webhook_delivery_unique')],
            },
        ),
        migrations.CreateModel(
            name='WebhookPosition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField(default=0)),
                ('trip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trips.trip')),
                ('webhook', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='positions', to='splits.webhook')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('webhook', 'trip'), name='webhook_position_unique')],
            },
        ),
        migrations.CreateModel(
            name='Debt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('open_minor', models.BigIntegerField()),
                ('covered_at', models.DateTimeField(null=True, verbose_name='covered at')),
                ('period', models.IntegerField(db_default=0, default=0)),
                ('creditor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='claims', to=settings.AUTH_USER_MODEL, verbose_name='creditor')),
                ('debtor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='debts', to=settings.AUTH_USER_MODEL, verbose_name='debtor')),
                ('trip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='debts', to='trips.trip', verbose_name='trip')),
                ('split', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='debts', to='splits.split')),
            ],
            options={
                'verbose_name': 'debt',
                'verbose_name_plural': 'debts',
                'indexes': [models.Index(condition=models.Q(('open_minor__gt', 0)), fields=['debtor', 'trip', 'period', 'creditor'], name='debt_open_since')],
                'constraints': [models.UniqueConstraint(fields=('split', 'creditor'), name='debt_once_to_a_creditor'), models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='debt_positive'), models.CheckConstraint(condition=models.Q(('open_minor__gte', 0), ('open_minor__lte', models.F('amount_minor'))), name='debt_covered_within_amount'), models.CheckConstraint(condition=models.Q(models.Q(('covered_at__isnull', False), ('open_minor', 0)), models.Q(('covered_at', None), ('open_minor__gt', 0)), _connector='OR'), name='debt_covered_at_when_covered'), models.CheckConstraint(condition=models.Q(('debtor', models.F('creditor')), _negated=True), name='debt_between_two_people')],
            },
        ),
        migrations.CreateModel(
            name='Settlement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('credit_minor', models.BigIntegerField()),
                ('period', models.IntegerField(db_default=0, default=0)),
                ('settled_on', models.DateField(default=splits.models.settlement.today, verbose_name='date')),
                ('note', models.CharField(blank=True, default='', max_length=2000, verbose_name='note')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='recorded by')),
                ('receiver', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='settlements_received', to=settings.AUTH_USER_MODEL, verbose_name='receiver')),
                ('sender', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='settlements_sent', to=settings.AUTH_USER_MODEL, verbose_name='sender')),
                ('trip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='settlements', to='trips.trip', verbose_name='trip')),
                ('split', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='settlements', to='splits.split')),
            ],
            options={
                'verbose_name': 'settlement',
                'verbose_name_plural': 'settlements',
                'indexes': [models.Index(fields=['trip', '-settled_on', '-id'], name='settlement_newest'), models.Index(condition=models.Q(('credit_minor__gt', 0)), fields=['trip', 'sender', 'receiver', 'period'], name='settlement_credit_since')],
                'constraints': [models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='settlement_positive'), models.CheckConstraint(condition=models.Q(('credit_minor__gte', 0), ('credit_minor__lte', models.F('amount_minor'))), name='settlement_credit_within_amount'), models.CheckConstraint(condition=models.Q(('sender', models.F('receiver')), _negated=True), name='settlement_between_two_people')],
            },
        ),
        migrations.CreateModel(
            name='Allocation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('debt', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='allocations', to='splits.debt')),
                ('closed_by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='closings', to='splits.settlement')),
                ('settlement', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='allocations', to='splits.settlement')),
                ('trip', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip')),
            ],
            options={
                'verbose_name': 'allocation',
                'verbose_name_plural': 'allocations',
                'indexes': [models.Index(condition=models.Q(('closed_by__isnull', False)), fields=['closed_by'], name='allocation_closed_by')],
                'constraints': [models.CheckConstraint(condition=models.Q(('amount_minor__gt', 0)), name='allocation_positive'), models.CheckConstraint(condition=models.Q(models.Q(('closed_by', None), ('debt__isnull', False), ('settlement__isnull', False)), models.Q(('closed_by__isnull', False), ('debt', None), ('settlement__isnull', False)), models.Q(('closed_by__isnull', False), ('debt__isnull', False), ('settlement', None)), _connector='OR'), name='allocation_covers_or_closes')],
            },
        ),
        migrations.CreateModel(
            name='ClosedPeriod',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('closed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='closed_periods', to='trips.trip')),
                ('settlement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='closed_periods', to='splits.settlement')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('trip', 'number'), name='period_closed_once')],
            },
        ),
        migrations.CreateModel(
            name='ClosedSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owed_minor', models.BigIntegerField()),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='closed_sums', to='trips.member')),
                ('settlement', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='closed_sums', to='splits.settlement')),
                ('trip', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('settlement', 'member'), name='closed_sum_once_for_a_member'), models.CheckConstraint(condition=models.Q(('owed_minor__gte', 0)), name='closed_sum_not_negative')],
            },
        ),
    ]
