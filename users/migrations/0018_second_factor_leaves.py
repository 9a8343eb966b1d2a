from django.db import migrations


class Migration(migrations.Migration):
    """They have no tables of their own; another app has these models now."""

    dependencies = [
        ('users', '0017_notices_of_plugins'),
    ]

    operations = [
        migrations.DeleteModel('AuthenticatorApp'),
        migrations.DeleteModel('RecoveryCodes'),
    ]
