from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('trips', '0013_sums_above_least'),
    ]

    operations = [
        migrations.AddField(
            model_name='trip',
            name='stored_category_budgets',
            field=models.TextField(default=None, editable=False, null=True),
        ),
    ]
