import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The table is there: it was created by the app `splits`, which had the model before.

    Without its foreign key to expenses, these can be deleted while the plugin is left out.
    """

    initial = True

    dependencies = [
        ('splits', '0018_closings_by_allocations'),
        ('trips', '0011_journal_and_invitations'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='Comment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('text', models.TextField(max_length=2000, verbose_name='text')),
                        ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                        ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                        ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='written by')),
                        ('expense', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='splits.expense', verbose_name='expense')),
                        ('trip', models.ForeignKey(db_constraint=False, db_index=False, editable=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='trips.trip')),
                    ],
                    options={
                        'verbose_name': 'comment',
                        'verbose_name_plural': 'comments',
                        'db_table': 'splits_comment',
                    },
                ),
            ]
        ),
        migrations.AlterField(
            model_name='comment',
            name='expense',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='splits.expense', verbose_name='expense'),
        ),
    ]
