import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('kit', '0001_initial'), ('kit', '0002_initial'), ('kit', '0003_schema_floor'),
        ('kit', '0004_indexes'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=255)),
                ('fingerprint', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(default=0)),
                ('location', models.CharField(blank=True, default='', max_length=255)),
                ('body', models.BinaryField(default=b'')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='idempotency_key_once_per_user')],
            },
        ),
        migrations.CreateModel(
            name='ThrottleCounter',
            fields=[
                ('key', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('count', models.PositiveIntegerField()),
                ('ends_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='SchemaFloor',
            fields=[
                ('app', models.CharField(max_length=255, primary_key=True, serialize=False)),
                ('migration', models.CharField(max_length=255)),
            ],
        ),
    ]
