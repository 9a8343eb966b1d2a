import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('trip_messages', '0001_initial'), ('trip_messages', '0002_client_ids')]

    initial = True

    dependencies = [
        ('trips', '0017_client_ids'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('client_id', models.UUIDField(default=None, editable=False, null=True, verbose_name='client id')),
                ('deleted_at', models.DateTimeField(db_index=True, editable=False, null=True, verbose_name='deleted at')),
                ('text', models.TextField(max_length=2000, verbose_name='text')),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='written by')),
                ('reply_to', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trip_messages.message', verbose_name='reply to')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'message',
                'verbose_name_plural': 'messages',
                'indexes': [models.Index(condition=models.Q(('deleted_at', None)), fields=['trip', 'id'], include=('created_by',), name='message_newest')],
            },
        ),
        migrations.CreateModel(
            name='ReadMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message_id', models.BigIntegerField(verbose_name='message')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='read_marks', to='trips.trip', verbose_name='trip')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('trip', 'user'), name='one_read_mark_in_trip')],
            },
        ),
    ]
