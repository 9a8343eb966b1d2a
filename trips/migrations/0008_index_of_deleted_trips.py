from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('trips', '0007_deleted_trips'),
    ]

    operations = [
        AddIndexWithoutLock(
            model_name='trip',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='trip_by_deletion'),
        ),
    ]
