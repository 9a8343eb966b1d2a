from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trips', '0009_columns_of_trips'),
    ]

    operations = [
        migrations.AddField(
            model_name='member',
            name='introduced_by',
            field=models.BigIntegerField(editable=False, null=True),
        ),
    ]
