from django.db import migrations, models


def plain(model, name, **options):
    """A foreign key becomes the number that its column holds."""
    field = models.BigIntegerField(null=True, db_index=True, **options)
    return [migrations.RemoveField(model, name), migrations.AddField(model, f'{name}_id', field)]


class Migration(migrations.Migration):
    """The columns stay as they are, with their constraints: the previous release fills them too."""

    dependencies = [
        ('users', '0012_letters'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *plain('mail', 'trip'),
                *plain('mail', 'expense'),
                *plain('mail', 'invitation'),
                *plain('scopedtoken', 'trip', verbose_name='trip', blank=True),
            ],
        ),
    ]
