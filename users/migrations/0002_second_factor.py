from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('otp_static', '0003_add_timestamps'),
        ('otp_totp', '0003_add_timestamps'),
        ('users', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuthenticatorApp',
            fields=[
            ],
            options={
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('otp_totp.totpdevice',),
        ),
        migrations.CreateModel(
            name='RecoveryCodes',
            fields=[
            ],
            options={
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('otp_static.staticdevice',),
        ),
    ]
