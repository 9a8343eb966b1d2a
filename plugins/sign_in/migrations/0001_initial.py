import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models.deletion import CASCADE


class Migration(migrations.Migration):
    initial = True
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        migrations.CreateModel(
            name='Identity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(max_length=255, verbose_name='issuer')),
                ('subject', models.CharField(max_length=255, verbose_name='subject')),
                ('email', models.CharField(blank=True, max_length=254, verbose_name='email')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('used_at', models.DateTimeField(null=True, verbose_name='last used at')),
                ('user', models.ForeignKey(on_delete=CASCADE, related_name='identities', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'identity',
                'verbose_name_plural': 'identities',
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='identity_unique')],
            },
        ),
    ]
