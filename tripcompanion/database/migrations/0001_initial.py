import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
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
            ],
        ),
        migrations.CreateModel(
            name='ThrottleCounter',
            fields=[
                ('key', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('count', models.PositiveIntegerField()),
                ('ends_at', models.DateTimeField(db_index=True)),
            ],
        ),
    ]
