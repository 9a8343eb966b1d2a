from django.db import migrations


class Migration(migrations.Migration):
    """The table of comments stays as it is; the model belongs to the app `comments`."""

    dependencies = [
        ('splits', '0034_saved_filters_leave'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel('Comment')],
        ),
    ]
