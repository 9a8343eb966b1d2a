import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('exchange', '0001_initial'),
        ('exchange', '0002_whole_files'),
        ('exchange', '0003_states'),
    ]

    initial = True

    dependencies = [
        ('trips', '0017_client_ids'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('makes_trip', models.BooleanField(default=False, verbose_name='makes the trip')),
                ('format', models.CharField(max_length=30, verbose_name='format')),
                ('content', models.TextField(editable=False)),
                ('choices', models.TextField(default='{}', editable=False)),
                ('file', models.BinaryField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('confirmed_at', models.DateTimeField(null=True, verbose_name='confirmed at')),
                ('undone_at', models.DateTimeField(null=True, verbose_name='undone at')),
                ('last_number', models.BigIntegerField(editable=False, null=True)),
                ('trip', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='trips.trip', verbose_name='trip')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to=settings.AUTH_USER_MODEL, verbose_name='imported by')),
            ],
            options={
                'verbose_name': 'import',
                'verbose_name_plural': 'imports',
                'indexes': [models.Index(condition=models.Q(('confirmed_at', None)), fields=['created_at'], name='import_unconfirmed')],
            },
        ),
        migrations.CreateModel(
            name='ImportedRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('line', models.PositiveIntegerField()),
                ('outcome', models.CharField(choices=[('taken', 'taken'), ('noted', 'taken, with a note'), ('skipped', 'skipped'), ('known', 'imported before'), ('differs', 'imported before, but different since')], max_length=7)),
                ('kind', models.CharField(blank=True, choices=[('expense', 'expense'), ('settlement', 'settlement')], default='', max_length=10)),
                ('key', models.CharField(blank=True, default='', max_length=32)),
                ('match', models.CharField(blank=True, default='', max_length=32)),
                ('digest', models.CharField(blank=True, default='', max_length=32)),
                ('entry_date', models.DateField(null=True)),
                ('shown', models.TextField()),
                ('notes', models.TextField(default='[]')),
                ('entry', models.TextField(blank=True, default='')),
                ('object_id', models.BigIntegerField(null=True)),
                ('plan', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='exchange.import')),
            ],
            options={
                'indexes': [models.Index(fields=['key'], name='imported_row_by_key')],
                'constraints': [models.UniqueConstraint(fields=('plan', 'position'), name='imported_row_in_order')],
            },
        ),
    ]
