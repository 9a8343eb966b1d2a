from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('exchange', '0002_whole_files'),
    ]

    operations = [
        migrations.RenameField(
            model_name='import',
            old_name='whole_file',
            new_name='file',
        ),
        migrations.AddField(
            model_name='import',
            name='choices',
            field=models.TextField(default='{}', editable=False),
        ),
        migrations.AddField(
            model_name='import',
            name='undone_at',
            field=models.DateTimeField(null=True, verbose_name='undone at'),
        ),
        migrations.AlterField(
            model_name='importedrow',
            name='outcome',
            field=models.CharField(choices=[('taken', 'taken'), ('noted', 'taken, with a note'), ('skipped', 'skipped'), ('known', 'imported before'), ('differs', 'imported before, but different since')], max_length=7),
        ),
    ]
