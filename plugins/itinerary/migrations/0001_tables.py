import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('itinerary', '0001_itinerary'),
        ('itinerary', '0002_restored_at'),
        ('itinerary', '0003_client_ids'),
    ]

    initial = True

    dependencies = [
        ('splits', '0036_client_ids'),
        ('trips', '0017_client_ids'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Activity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('client_id', models.UUIDField(default=None, editable=False, null=True, verbose_name='client id')),
                ('deleted_at', models.DateTimeField(db_index=True, editable=False, null=True, verbose_name='deleted at')),
                ('title', models.CharField(max_length=100, verbose_name='title')),
                ('type', models.CharField(choices=[('ACTIVITY', 'activity'), ('TRANSITION', 'way between two places')], default='ACTIVITY', max_length=10, verbose_name='type')),
                ('date', models.DateField(blank=True, default=None, null=True, verbose_name='date')),
                ('start_time', models.CharField(blank=True, default=None, max_length=5, null=True, verbose_name='start time')),
                ('duration_minutes', models.PositiveSmallIntegerField(blank=True, default=None, null=True, verbose_name='duration in minutes')),
                ('location', models.CharField(blank=True, default=None, max_length=255, null=True, verbose_name='place')),
                ('url', models.CharField(blank=True, default=None, max_length=2048, null=True, verbose_name='link')),
                ('notes', models.TextField(blank=True, default=None, max_length=2000, null=True, verbose_name='notes')),
                ('category', models.CharField(choices=[('RESTAURANT', 'restaurant'), ('MUSEUM', 'museum'), ('PARK', 'park'), ('LANDMARK', 'landmark'), ('SHOP', 'shop'), ('TRANSPORT', 'transport'), ('HOTEL', 'hotel'), ('OTHER', 'other')], default='OTHER', max_length=10, verbose_name='category')),
                ('completed', models.BooleanField(default=False, verbose_name='done')),
                ('order', models.BigIntegerField(verbose_name='order')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                ('restored_at', models.DateTimeField(default=None, editable=False, null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='added by')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='activities', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'activity',
                'verbose_name_plural': 'activities',
                'indexes': [models.Index(fields=['trip', 'date', 'order', 'id'], name='activity_planned')],
                'constraints': [models.CheckConstraint(condition=models.Q(('duration_minutes', None), ('duration_minutes__range', (1, 1440)), _connector='OR'), name='activity_within_a_day')],
            },
        ),
        migrations.CreateModel(
            name='ActivityExpense',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('activity', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='itinerary.activity')),
                ('expense', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='splits.expense')),
                ('trip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='activity_expenses', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('expense',), name='expense_of_one_activity')],
            },
        ),
        migrations.CreateModel(
            name='ItineraryDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('date', models.DateField(verbose_name='date')),
                ('title', models.CharField(blank=True, default=None, max_length=100, null=True, verbose_name='title')),
                ('is_ticked', models.BooleanField(default=False, verbose_name='done')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='itinerary_days', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'day of an itinerary',
                'verbose_name_plural': 'days of itineraries',
                'constraints': [models.UniqueConstraint(fields=('trip', 'date'), name='itinerary_day_once')],
            },
        ),
    ]
