import django.db.models.deletion
import django.utils.timezone
import users.models.notices
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('users', '0001_initial'), ('users', '0002_second_factor'), ('users', '0003_guests'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('name', models.CharField(blank=True, max_length=50, verbose_name='name')),
                ('email', models.CharField(max_length=254, null=True, unique=True, verbose_name='email')),
                ('email_key', models.CharField(editable=False, max_length=508, null=True)),
                ('email_verified_at', models.DateTimeField(editable=False, null=True, verbose_name='email confirmed at')),
                ('role', models.CharField(choices=[('USER', 'User'), ('ADMIN', 'Administrator')], default='USER', max_length=5, verbose_name='role')),
                ('profile_picture', models.CharField(blank=True, max_length=2048, null=True, verbose_name='profile picture')),
                ('currency', models.CharField(choices=[('AED', 'AED'), ('AFN', 'AFN'), ('ALL', 'ALL'), ('AMD', 'AMD'), ('AOA', 'AOA'), ('ARS', 'ARS'), ('AUD', 'AUD'), ('AWG', 'AWG'), ('AZN', 'AZN'), ('BAM', 'BAM'), ('BBD', 'BBD'), ('BDT', 'BDT'), ('BHD', 'BHD'), ('BIF', 'BIF'), ('BMD', 'BMD'), ('BND', 'BND'), ('BOB', 'BOB'), ('BOV', 'BOV'), ('BRL', 'BRL'), ('BSD', 'BSD'), ('BTN', 'BTN'), ('BWP', 'BWP'), ('BYN', 'BYN'), ('BZD', 'BZD'), ('CAD', 'CAD'), ('CDF', 'CDF'), ('CHE', 'CHE'), ('CHF', 'CHF'), ('CHW', 'CHW'), ('CLF', 'CLF'), ('CLP', 'CLP'), ('CNY', 'CNY'), ('COP', 'COP'), ('COU', 'COU'), ('CRC', 'CRC'), ('CUP', 'CUP'), ('CVE', 'CVE'), ('CZK', 'CZK'), ('DJF', 'DJF'), ('DKK', 'DKK'), ('DOP', 'DOP'), ('DZD', 'DZD'), ('EGP', 'EGP'), ('ERN', 'ERN'), ('ETB', 'ETB'), ('EUR', 'EUR'), ('FJD', 'FJD'), ('FKP', 'FKP'), ('GBP', 'GBP'), ('GEL', 'GEL'), ('GHS', 'GHS'), ('GIP', 'GIP'), ('GMD', 'GMD'), ('GNF', 'GNF'), ('GTQ', 'GTQ'), ('GYD', 'GYD'), ('HKD', 'HKD'), ('HNL', 'HNL'), ('HTG', 'HTG'), ('HUF', 'HUF'), ('IDR', 'IDR'), ('ILS', 'ILS'), ('INR', 'INR'), ('IQD', 'IQD'), ('IRR', 'IRR'), ('ISK', 'ISK'), ('JMD', 'JMD'), ('JOD', 'JOD'), ('JPY', 'JPY'), ('KES', 'KES'), ('KGS', 'KGS'), ('KHR', 'KHR'), ('KMF', 'KMF'), ('KPW', 'KPW'), ('KRW', 'KRW'), ('KWD', 'KWD'), ('KYD', 'KYD'), ('KZT', 'KZT'), ('LAK', 'LAK'), ('LBP', 'LBP'), ('LKR', 'LKR'), ('LRD', 'LRD'), ('LSL', 'LSL'), ('LYD', 'LYD'), ('MAD', 'MAD'), ('MDL', 'MDL'), ('MGA', 'MGA'), ('MKD', 'MKD'), ('MMK', 'MMK'), ('MNT', 'MNT'), ('MOP', 'MOP'), ('MRU', 'MRU'), ('MUR', 'MUR'), ('MVR', 'MVR'), ('MWK', 'MWK'), ('MXN', 'MXN'), ('MXV', 'MXV'), ('MYR', 'MYR'), ('MZN', 'MZN'), ('NAD', 'NAD'), ('NGN', 'NGN'), ('NIO', 'NIO'), ('NOK', 'NOK'), ('NPR', 'NPR'), ('NZD', 'NZD'), ('OMR', 'OMR'), ('PAB', 'PAB'), ('PEN', 'PEN'), ('PGK', 'PGK'), ('PHP', 'PHP'), ('PKR', 'PKR'), ('PLN', 'PLN'), ('PYG', 'PYG'), ('QAR', 'QAR'), ('RON', 'RON'), ('RSD', 'RSD'), ('RUB', 'RUB'), ('RWF', 'RWF'), ('SAR', 'SAR'), ('SBD', 'SBD'), ('SCR', 'SCR'), ('SDG', 'SDG'), ('SEK', 'SEK'), ('SGD', 'SGD'), ('SHP', 'SHP'), ('SLE', 'SLE'), ('SOS', 'SOS'), ('SRD', 'SRD'), ('SSP', 'SSP'), ('STN', 'STN'), ('SVC', 'SVC'), ('SYP', 'SYP'), ('SZL', 'SZL'), ('THB', 'THB'), ('TJS', 'TJS'), ('TMT', 'TMT'), ('TND', 'TND'), ('TOP', 'TOP'), ('TRY', 'TRY'), ('TTD', 'TTD'), ('TWD', 'TWD'), ('TZS', 'TZS'), ('UAH', 'UAH'), ('UGX', 'UGX'), ('USD', 'USD'), ('USN', 'USN'), ('UYI', 'UYI'), ('UYU', 'UYU'), ('UYW', 'UYW'), ('UZS', 'UZS'), ('VED', 'VED'), ('VES', 'VES'), ('VND', 'VND'), ('VUV', 'VUV'), ('WST', 'WST'), ('XAD', 'XAD'), ('XAF', 'XAF'), ('XCD', 'XCD'), ('XCG', 'XCG'), ('XOF', 'XOF'), ('XPF', 'XPF'), ('YER', 'YER'), ('ZAR', 'ZAR'), ('ZMW', 'ZMW'), ('ZWG', 'ZWG')], default='EUR', max_length=3, verbose_name='currency')),
                ('is_active', models.BooleanField(default=True, verbose_name='is active')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                ('deleted_at', models.DateTimeField(editable=False, null=True, verbose_name='deleted at')),
                ('session_epoch', models.PositiveIntegerField(default=0, editable=False)),
                ('is_guest', models.BooleanField(db_default=False, default=False, editable=False, verbose_name='is a guest')),
                ('notice_events', models.CharField(blank=True, db_default='member.added split.paid expense.created expense.changed comment.created', default='member.added split.paid expense.created expense.changed comment.created', editable=False, max_length=100)),
                ('notice_language', models.CharField(db_default='en', default='en', editable=False, max_length=7)),
                ('notice_mode', models.CharField(choices=[('off', 'never'), ('each', 'at once'), ('daily', 'once a day')], db_default='off', default='off', max_length=5, verbose_name='notices by mail')),
                ('noticed_at', models.DateTimeField(editable=False, null=True)),
                ('wal_position', models.BigIntegerField(editable=False, null=True)),
            ],
            options={
                'verbose_name': 'account',
                'verbose_name_plural': 'accounts',
                'indexes': [models.Index(fields=['created_at', 'is_guest'], name='account_by_creation')],
                'constraints': [models.UniqueConstraint(fields=('email_key',), name='user_email_unique'), models.CheckConstraint(condition=models.Q(('role__in', ['USER', 'ADMIN'])), name='user_role_known'), models.CheckConstraint(condition=models.Q(('deleted_at', None), models.Q(('email', None), ('email_key', None), ('is_active', False)), _connector='OR'), name='user_deleted_is_empty'), models.CheckConstraint(condition=models.Q(('is_guest', False), models.Q(('email', None), ('email_key', None), ('is_active', False), ('role', 'USER')), _connector='OR'), name='user_guest_has_no_account'), models.CheckConstraint(condition=models.Q(('notice_mode__in', ['off', 'each', 'daily'])), name='user_notice_mode_known')],
            },
        ),
        migrations.CreateModel(
            name='EmailToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('letter', models.CharField(choices=[('RESET', 'password reset requested'), ('VERIFY', 'e-mail address confirmation'), ('PASSWORD_CHANGED', 'password changed'), ('EMAIL_CHANGED', 'e-mail address changed'), ('INVITATION', 'invitation to a trip'), ('WEBHOOK_OFF', 'webhook turned off'), ('MEMBER_ADDED', 'notice: added to a trip'), ('SPLIT_PAID', 'notice: split paid'), ('EXPENSE_CREATED', 'notice: expense recorded'), ('EXPENSE_CHANGED', 'notice: expense changed'), ('COMMENT_CREATED', 'notice: comment')], max_length=16)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('bound_to', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ScopedToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('hint', models.CharField(max_length=8, verbose_name='begins with')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('scope_words', models.CharField(max_length=200, verbose_name='scopes')),
                ('password_fingerprint', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('used_at', models.DateTimeField(null=True, verbose_name='last used at')),
                ('expires_at', models.DateTimeField(db_index=True, verbose_name='expires at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scoped_tokens', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'scoped token',
                'verbose_name_plural': 'scoped tokens',
            },
        ),
        migrations.CreateModel(
            name='Mail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('letter', models.CharField(choices=[('RESET', 'password reset requested'), ('VERIFY', 'e-mail address confirmation'), ('PASSWORD_CHANGED', 'password changed'), ('EMAIL_CHANGED', 'e-mail address changed'), ('INVITATION', 'invitation to a trip'), ('WEBHOOK_OFF', 'webhook turned off'), ('MEMBER_ADDED', 'notice: added to a trip'), ('SPLIT_PAID', 'notice: split paid'), ('EXPENSE_CREATED', 'notice: expense recorded'), ('EXPENSE_CHANGED', 'notice: expense changed'), ('COMMENT_CREATED', 'notice: comment')], max_length=16, verbose_name='subject')),
                ('address', models.CharField(max_length=254, verbose_name='address')),
                ('language', models.CharField(default=users.models.notices.current_language, max_length=7, verbose_name='language')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='next attempt at')),
                ('attempts', models.PositiveIntegerField(default=0, verbose_name='attempts')),
                ('error', models.CharField(blank=True, default='', max_length=100, verbose_name='last error')),
                ('given_up_at', models.DateTimeField(null=True, verbose_name='given up at')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'mail',
                'verbose_name_plural': 'mails',
                'indexes': [models.Index(condition=models.Q(('given_up_at', None)), fields=['due_at', 'id'], name='mail_due'), models.Index(condition=models.Q(('given_up_at__isnull', False)), fields=['given_up_at'], name='mail_by_giving_up')],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('refresh_jti', models.CharField(max_length=32)),
                ('auth_hash', models.CharField(max_length=128)),
                ('device', models.CharField(db_default='', default='', max_length=200, verbose_name='device')),
                ('address', models.CharField(db_default='', default='', max_length=64, verbose_name='IP address')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('used_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last used at')),
                ('expires_at', models.DateTimeField(verbose_name='expires at')),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended at')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
                'indexes': [models.Index(fields=['expires_at'], name='session_by_expiry'), models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at'], name='session_by_end')],
            },
        ),
    ]
