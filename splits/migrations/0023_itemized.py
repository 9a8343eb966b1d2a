from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('splits', '0022_rates_by_day'),
    ]

    operations = [
        migrations.AddField(
            model_name='expense',
            name='stored_items',
            field=models.TextField(default=None, editable=False, null=True),
        ),
        migrations.AlterField(
            model_name='expense',
            name='split_type',
            field=models.CharField(choices=[('EQUAL', 'equally'), ('MANUAL', 'by exact amounts'), ('PERCENTAGE', 'by percentages'), ('SHARES', 'by weights'), ('ITEMIZED', 'by items'), ('ADJUSTMENT', 'equally, with more or less for some')], max_length=10, verbose_name='split type'),
        ),
    ]
