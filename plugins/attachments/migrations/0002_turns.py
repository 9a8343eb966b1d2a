"""An index by uploader, whose pictures take turns with those of others."""

from django.conf import settings
from django.db import migrations, models

from tripcompanion.database.operations import AddIndexWithoutLock


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("attachments", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        AddIndexWithoutLock(
            model_name="attachment",
            index=models.Index(
                condition=models.Q(("state", "processing")),
                fields=["created_by", "id"],
                name="attachment_by_uploader",
            ),
        ),
        migrations.RemoveIndex(model_name="attachment", name="attachment_processing"),
    ]
