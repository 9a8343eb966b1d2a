from django.db import migrations, models
from django.db.models import Q

from tripcompanion.database.operations import AddCheckWithoutLock


class Migration(migrations.Migration):
    """Payments in another currency than the trip's, with their rate."""

    atomic = False

    dependencies = [
        ('splits', '0029_no_snapshot'),
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
    ]
