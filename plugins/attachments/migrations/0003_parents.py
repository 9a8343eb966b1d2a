"""Files may belong to objects of other apps. Their column comes first, then what it may be."""

from django.db import migrations, models

from tripcompanion.database.operations import AddCheckWithoutLock


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("attachments", "0002_turns")]

    operations = [
        migrations.AddField(
            model_name="attachment",
            name="parent_type",
            field=models.CharField(
                editable=False, max_length=24, null=True, verbose_name="object"
            ),
        ),
        AddCheckWithoutLock(
            model_name="attachment",
            constraint=models.CheckConstraint(
                condition=models.Q(("expense", None), ("parent_type", None), _connector="OR"),
                name="attachment_of_one_object",
            ),
        ),
    ]
