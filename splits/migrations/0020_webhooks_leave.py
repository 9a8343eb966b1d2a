from django.db import migrations


class Migration(migrations.Migration):
    """The tables of webhooks stay as they are; the models belong to the app `webhooks`."""

    dependencies = [
        ('splits', '0019_debts_of_splits'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel('WebhookPosition'),
                migrations.DeleteModel('WebhookDelivery'),
                migrations.DeleteModel('Webhook'),
            ]
        ),
    ]
