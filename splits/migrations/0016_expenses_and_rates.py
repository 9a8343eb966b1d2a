from django.db import migrations, models


class Migration(migrations.Migration):
    """Rates: the latest, which are all that was kept so far, are the first of the history."""

    replaces = [
        ('splits', '0016_merged_guests'), ('splits', '0021_tags'), ('splits', '0022_rates_by_day'),
        ('splits', '0023_itemized'),
    ]

    dependencies = [
        ('splits', '0001_tables_of_1_0_0'),
    ]

    operations = [
        migrations.AddField(
            model_name='expense',
            name='merged_guests',
            field=models.TextField(db_default='', default='', editable=False),
        ),
        migrations.AddField(
            model_name='expense',
            name='tags',
            field=models.JSONField(blank=True, db_default=[], default=list, verbose_name='tags'),
        ),
        migrations.AddField(
            model_name='expense',
            name='stored_items',
            field=models.TextField(default=None, editable=False, null=True),
        ),
        migrations.AlterField(
            model_name='expense',
            name='split_type',
            field=models.CharField(choices=[('EQUAL', 'equally'), ('MANUAL', 'by exact amounts'), ('PERCENTAGE', 'by percentages'), ('SHARES', 'by weights'), ('ITEMIZED', 'by items'), ('ADJUSTMENT', 'equally, with more or less for some')], max_length=10, verbose_name='split type'),
        ),
        migrations.CreateModel(
            name='DailyRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=3, verbose_name='currency')),
                ('per_euro', models.DecimalField(decimal_places=6, max_digits=15, verbose_name='units per euro')),
                ('day', models.DateField(verbose_name='day')),
            ],
            options={
                'verbose_name': 'exchange rate of a day',
                'verbose_name_plural': 'exchange rates by day',
                'constraints': [models.UniqueConstraint(fields=('currency', 'day'), name='dailyrate_of_day'), models.CheckConstraint(condition=models.Q(('per_euro__gt', 0)), name='dailyrate_positive')],
            },
        ),
        migrations.RunSQL(
            "INSERT INTO splits_dailyrate (currency, per_euro, day) "
            "SELECT currency, per_euro, day FROM splits_rate",
            migrations.RunSQL.noop,
        ),
    ]
