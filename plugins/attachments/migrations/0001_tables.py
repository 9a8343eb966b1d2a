import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('attachments', '0001_initial'),
        ('attachments', '0002_turns'),
        ('attachments', '0003_parents'),
        ('attachments', '0004_types'),
    ]

    initial = True

    dependencies = [
        ('splits', '0036_client_ids'),
        ('trips', '0017_client_ids'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Attachment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('parent_type', models.CharField(editable=False, max_length=24, null=True, verbose_name='object')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('type', models.CharField(choices=[('image/jpeg', 'JPEG'), ('image/png', 'PNG'), ('image/webp', 'WebP'), ('image/heic', 'HEIC'), ('application/pdf', 'PDF'), ('text/plain', 'TXT'), ('text/csv', 'CSV'), ('text/calendar', 'iCalendar'), ('message/rfc822', 'EML'), ('application/gpx+xml', 'GPX'), ('application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'DOCX'), ('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'XLSX'), ('application/vnd.openxmlformats-officedocument.presentationml.presentation', 'PPTX'), ('application/vnd.oasis.opendocument.text', 'ODT'), ('application/vnd.oasis.opendocument.spreadsheet', 'ODS'), ('application/vnd.oasis.opendocument.presentation', 'ODP')], max_length=100, verbose_name='type')),
                ('size_bytes', models.PositiveIntegerField(verbose_name='bytes')),
                ('state', models.CharField(choices=[('processing', 'processing'), ('ready', 'ready'), ('refused', 'refused')], max_length=10, verbose_name='state')),
                ('refusal', models.CharField(blank=True, choices=[('', 'none'), ('unreadable', 'it cannot be read'), ('too_many_pixels', 'it has too many pixels'), ('macros', 'it has macros'), ('too_large', 'it is too large once it is unpacked')], default='', max_length=20, verbose_name='reason')),
                ('file', models.CharField(blank=True, max_length=40)),
                ('thumbnail', models.CharField(blank=True, default='', max_length=40)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claimed_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='uploaded by')),
                ('expense', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='attachments', to='splits.expense', verbose_name='expense')),
                ('trip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attachments', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'attachment',
                'verbose_name_plural': 'attachments',
                'indexes': [models.Index(condition=models.Q(('state', 'processing')), fields=['created_by', 'id'], name='attachment_by_uploader')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('file', ''), ('state', 'refused')), models.Q(models.Q(('state', 'refused'), _negated=True), models.Q(('file', ''), _negated=True)), _connector='OR'), name='attachment_has_file'), models.CheckConstraint(condition=models.Q(('expense', None), ('parent_type', None), _connector='OR'), name='attachment_of_one_object')],
            },
        ),
    ]
