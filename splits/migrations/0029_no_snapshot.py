from django.db import migrations


class Migration(migrations.Migration):
    """The column stays as long as a release may run that uses it."""

    dependencies = [
        ('splits', '0028_settlement_between'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField('auditrun', 'snapshot'),
            ],
        ),
    ]
