from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('splits', '0015_fill_trips'),
    ]

    operations = [
        migrations.AddField(
            model_name='expense',
            name='merged_guests',
            field=models.TextField(db_default='', default='', editable=False),
        ),
    ]
