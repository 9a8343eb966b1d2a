import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """By itself: with another table in its transaction, it and a writer could wait for each other."""

    dependencies = [
        ('trips', '0005_journal'),
        ('users', '0006_mail_expense'),
    ]

    operations = [
        migrations.AddField(
            model_name='mail',
            name='trip',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trips.trip'),
        ),
    ]
