from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trips', '0011_imported_history'),
    ]

    operations = [
        migrations.AddField(
            model_name='trip',
            name='stored_default_division',
            field=models.TextField(default=None, editable=False, null=True),
        ),
    ]
