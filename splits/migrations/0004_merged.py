from django.db import migrations, models


class Migration(migrations.Migration):
    """By itself: with another table in its transaction, it and a writer could wait for each other."""

    dependencies = [
        ('splits', '0003_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='expense',
            name='merged',
            field=models.TextField(db_default='', default='', editable=False),
        ),
    ]
