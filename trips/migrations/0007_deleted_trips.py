from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trips', '0006_indexes'),
    ]

    operations = [
        migrations.AddField(
            model_name='trip',
            name='deleted_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='deleted at'),
        ),
    ]
