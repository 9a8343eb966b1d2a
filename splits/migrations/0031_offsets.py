import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The column of offsets; the foreign key is not checked, because all of it is NULL."""

    dependencies = [
        ('splits', '0030_foreign_settlements'),
    ]

    operations = [
        migrations.AddField(
            model_name='settlement',
            name='closing',
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name='offsets',
                to='splits.settlement',
            ),
        ),
    ]
