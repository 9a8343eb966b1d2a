import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('users', '0004_invitations'), ('users', '0005_notices'), ('users', '0006_mail_expense'),
        ('users', '0007_mail_trip'), ('users', '0008_webhooks'), ('users', '0009_wal_position'),
    ]

    initial = True

    dependencies = [
        ('splits', '0001_tables_of_1_0_0'),
        ('trips', '0001_tables_of_1_0_0'),
        ('users', '0001_accounts_of_1_0_0'),
    ]

    operations = [
        migrations.AddField(
            model_name='ScopedToken',
            name='trip',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trips.trip', verbose_name='trip'),
        ),
        migrations.AddField(
            model_name='Mail',
            name='invitation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='trips.invitation'),
        ),
        migrations.AddField(
            model_name='Mail',
            name='expense',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='splits.expense'),
        ),
        migrations.AddField(
            model_name='Mail',
            name='trip',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='trips.trip'),
        ),
    ]
