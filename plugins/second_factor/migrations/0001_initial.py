from django.db import migrations


class Migration(migrations.Migration):
    """Other names for tables of django-otp. The app `users` had these models before."""

    initial = True

    dependencies = [
        ('otp_static', '0003_add_timestamps'),
        ('otp_totp', '0003_add_timestamps'),
        ('users', '0010_answers'),
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
