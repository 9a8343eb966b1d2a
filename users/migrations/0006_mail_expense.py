import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """By itself: with another table in its transaction, it and a writer could wait for each other."""

    dependencies = [
        ('splits', '0006_comments'),
        ('users', '0005_notices'),
    ]

    operations = [
        migrations.AddField(
            model_name='mail',
            name='expense',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='splits.expense'),
        ),
    ]
