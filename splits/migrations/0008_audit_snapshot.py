from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('splits', '0007_webhooks'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditrun',
            name='snapshot',
            field=models.BigIntegerField(editable=False, null=True),
        ),
    ]
