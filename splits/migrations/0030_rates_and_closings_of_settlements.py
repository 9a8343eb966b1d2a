import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Payments in another currency than the trip's, with their rate; and what closes a trip.

    The foreign key is not checked, because all of it is NULL.
    """

    replaces = [
        ('splits', '0031_offsets'),
    ]

    dependencies = [
        ('splits', '0018_closings_by_allocations'),
    ]

    operations = [
        migrations.AddField(
            model_name='settlement',
            name='foreign_minor',
            field=models.BigIntegerField(default=None, null=True),
        ),
        migrations.AddField(
            model_name='settlement',
            name='foreign_currency',
            field=models.CharField(blank=True, db_default='', default='', max_length=3, verbose_name='other currency'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='exchange_rate',
            field=models.DecimalField(blank=True, decimal_places=15, default=None, max_digits=24, null=True, verbose_name='exchange rate'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='rate_source',
            field=models.CharField(blank=True, db_default='', default='', max_length=10, verbose_name='source of the rate'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='rate_day',
            field=models.DateField(blank=True, default=None, null=True, verbose_name='day of the rate'),
        ),
        migrations.AddField(
            model_name='settlement',
            name='closing',
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name='offsets',
                to='splits.settlement',
            ),
        ),
    ]
