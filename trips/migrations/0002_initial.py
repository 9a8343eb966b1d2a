import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('trips', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='member',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL, verbose_name='user'),
        ),
        migrations.AddIndex(
            model_name='trip',
            index=models.Index(fields=['-start_date', '-id'], name='trip_newest_start'),
        ),
        migrations.AddIndex(
            model_name='trip',
            index=models.Index(condition=models.Q(('counted_on__isnull', False)), fields=['counted_on'], name='trip_by_last_expense'),
        ),
        migrations.AddConstraint(
            model_name='trip',
            constraint=models.CheckConstraint(condition=models.Q(('end_date__gte', models.F('start_date'))), name='trip_ends_after_start'),
        ),
        migrations.AddConstraint(
            model_name='trip',
            constraint=models.CheckConstraint(condition=models.Q(('budget_minor', None), ('budget_minor__gt', 0), _connector='OR'), name='trip_budget_positive'),
        ),
        migrations.AddConstraint(
            model_name='trip',
            constraint=models.CheckConstraint(condition=models.Q(('join_role__in', ['EDITOR', 'VIEWER'])), name='trip_join_role_known'),
        ),
        migrations.AddConstraint(
            model_name='trip',
            constraint=models.CheckConstraint(condition=models.Q(('oldest_open_period__lte', models.F('period'))), name='trip_periods_in_order'),
        ),
        migrations.AddField(
            model_name='member',
            name='trip',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='trips.trip', verbose_name='trip'),
        ),
        migrations.AddConstraint(
            model_name='member',
            constraint=models.UniqueConstraint(fields=('trip', 'user'), name='member_once_in_trip'),
        ),
        migrations.AddConstraint(
            model_name='member',
            constraint=models.CheckConstraint(condition=models.Q(('paid_minor__lte', 9223372036854775807), ('received_minor__lte', 9223372036854775807), ('sent_minor__lte', 9223372036854775807), ('share_minor__lte', 9223372036854775807)), name='member_sums_in_64_bits'),
        ),
        migrations.AddConstraint(
            model_name='member',
            constraint=models.CheckConstraint(condition=models.Q(('owed_minor__gte', 0), ('owed_minor__lte', 9223372036854775807)), name='member_owed_in_range'),
        ),
        migrations.AddConstraint(
            model_name='member',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['OWNER', 'EDITOR', 'VIEWER'])), name='member_role_known'),
        ),
    ]
