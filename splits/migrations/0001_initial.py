import django.utils.timezone
import splits.models.settlement
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Allocation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
            ],
            options={
                'verbose_name': 'allocation',
                'verbose_name_plural': 'allocations',
            },
        ),
        migrations.CreateModel(
            name='AuditRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField(verbose_name='started at')),
                ('finished_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='finished at')),
                ('trip_count', models.PositiveIntegerField(verbose_name='trips checked')),
                ('difference_count', models.PositiveIntegerField(verbose_name='differences')),
                ('report', models.TextField(blank=True, default='', verbose_name='first differences')),
            ],
            options={
                'verbose_name': 'ledger audit',
                'verbose_name_plural': 'ledger audits',
            },
        ),
        migrations.CreateModel(
            name='ClosedPeriod',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('closed_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='ClosedSum',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owed_minor', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='Debt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('open_minor', models.BigIntegerField()),
                ('covered_at', models.DateTimeField(null=True, verbose_name='covered at')),
                ('period', models.IntegerField(db_default=0, default=0)),
            ],
            options={
                'verbose_name': 'debt',
                'verbose_name_plural': 'debts',
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
            ],
            options={
                'verbose_name': 'expense',
                'verbose_name_plural': 'expenses',
            },
        ),
        migrations.CreateModel(
            name='Payer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount_minor', models.BigIntegerField()),
                ('entered_minor', models.BigIntegerField()),
            ],
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
            ],
            options={
                'verbose_name': 'settlement',
                'verbose_name_plural': 'settlements',
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
            ],
            options={
                'verbose_name': 'split',
                'verbose_name_plural': 'splits',
            },
        ),
    ]
