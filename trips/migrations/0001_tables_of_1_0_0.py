import django.db.models.deletion
import django.utils.timezone
import trips.models.joining
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('trips', '0001_initial'), ('trips', '0002_initial'), ('trips', '0003_invitations'),
        ('trips', '0004_claims'), ('trips', '0005_journal'), ('trips', '0006_indexes'),
        ('trips', '0007_deleted_trips'), ('trips', '0008_index_of_deleted_trips'),
    ]

    initial = True

    dependencies = [
        ('users', '0001_accounts_of_1_0_0'),
    ]

    operations = [
        migrations.CreateModel(
            name='Trip',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(default=trips.models.joining.new_code, max_length=8, unique=True, verbose_name='trip code')),
                ('join_role', models.CharField(choices=[('EDITOR', 'editor'), ('VIEWER', 'viewer')], default='VIEWER', max_length=6, verbose_name='role of those who join')),
                ('title', models.CharField(max_length=100, verbose_name='title')),
                ('destination', models.CharField(max_length=100, verbose_name='destination')),
                ('description', models.TextField(blank=True, default='', max_length=2000, verbose_name='description')),
                ('image_url', models.CharField(blank=True, max_length=2048, null=True, verbose_name='image URL')),
                ('start_date', models.DateField(verbose_name='start date')),
                ('end_date', models.DateField(verbose_name='end date')),
                ('budget_minor', models.BigIntegerField(blank=True, null=True, verbose_name='budget')),
                ('currency', models.CharField(choices=[('AED', 'AED'), ('AFN', 'AFN'), ('ALL', 'ALL'), ('AMD', 'AMD'), ('AOA', 'AOA'), ('ARS', 'ARS'), ('AUD', 'AUD'), ('AWG', 'AWG'), ('AZN', 'AZN'), ('BAM', 'BAM'), ('BBD', 'BBD'), ('BDT', 'BDT'), ('BHD', 'BHD'), ('BIF', 'BIF'), ('BMD', 'BMD'), ('BND', 'BND'), ('BOB', 'BOB'), ('BOV', 'BOV'), ('BRL', 'BRL'), ('BSD', 'BSD'), ('BTN', 'BTN'), ('BWP', 'BWP'), ('BYN', 'BYN'), ('BZD', 'BZD'), ('CAD', 'CAD'), ('CDF', 'CDF'), ('CHE', 'CHE'), ('CHF', 'CHF'), ('CHW', 'CHW'), ('CLF', 'CLF'), ('CLP', 'CLP'), ('CNY', 'CNY'), ('COP', 'COP'), ('COU', 'COU'), ('CRC', 'CRC'), ('CUP', 'CUP'), ('CVE', 'CVE'), ('CZK', 'CZK'), ('DJF', 'DJF'), ('DKK', 'DKK'), ('DOP', 'DOP'), ('DZD', 'DZD'), ('EGP', 'EGP'), ('ERN', 'ERN'), ('ETB', 'ETB'), ('EUR', 'EUR'), ('FJD', 'FJD'), ('FKP', 'FKP'), ('GBP', 'GBP'), ('GEL', 'GEL'), ('GHS', 'GHS'), ('GIP', 'GIP'), ('GMD', 'GMD'), ('GNF', 'GNF'), ('GTQ', 'GTQ'), ('GYD', 'GYD'), ('HKD', 'HKD'), ('HNL', 'HNL'), ('HTG', 'HTG'), ('HUF', 'HUF'), ('IDR', 'IDR'), ('ILS', 'ILS'), ('INR', 'INR'), ('IQD', 'IQD'), ('IRR', 'IRR'), ('ISK', 'ISK'), ('JMD', 'JMD'), ('JOD', 'JOD'), ('JPY', 'JPY'), ('KES', 'KES'), ('KGS', 'KGS'), ('KHR', 'KHR'), ('KMF', 'KMF'), ('KPW', 'KPW'), ('KRW', 'KRW'), ('KWD', 'KWD'), ('KYD', 'KYD'), ('KZT', 'KZT'), ('LAK', 'LAK'), ('LBP', 'LBP'), ('LKR', 'LKR'), ('LRD', 'LRD'), ('LSL', 'LSL'), ('LYD', 'LYD'), ('MAD', 'MAD'), ('MDL', 'MDL'), ('MGA', 'MGA'), ('MKD', 'MKD'), ('MMK', 'MMK'), ('MNT', 'MNT'), ('MOP', 'MOP'), ('MRU', 'MRU'), ('MUR', 'MUR'), ('MVR', 'MVR'), ('MWK', 'MWK'), ('MXN', 'MXN'), ('MXV', 'MXV'), ('MYR', 'MYR'), ('MZN', 'MZN'), ('NAD', 'NAD'), ('NGN', 'NGN'), ('NIO', 'NIO'), ('NOK', 'NOK'), ('NPR', 'NPR'), ('NZD', 'NZD'), ('OMR', 'OMR'), ('PAB', 'PAB'), ('PEN', 'PEN'), ('PGK', 'PGK'), ('PHP', 'PHP'), ('PKR', 'PKR'), ('PLN', 'PLN'), ('PYG', 'PYG'), ('QAR', 'QAR'), ('RON', 'RON'), ('RSD', 'RSD'), ('RUB', 'RUB'), ('RWF', 'RWF'), ('SAR', 'SAR'), ('SBD', 'SBD'), ('SCR', 'SCR'), ('SDG', 'SDG'), ('SEK', 'SEK'), ('SGD', 'SGD'), ('SHP', 'SHP'), ('SLE', 'SLE'), ('SOS', 'SOS'), ('SRD', 'SRD'), ('SSP', 'SSP'), ('STN', 'STN'), ('SVC', 'SVC'), ('SYP', 'SYP'), ('SZL', 'SZL'), ('THB', 'THB'), ('TJS', 'TJS'), ('TMT', 'TMT'), ('TND', 'TND'), ('TOP', 'TOP'), ('TRY', 'TRY'), ('TTD', 'TTD'), ('TWD', 'TWD'), ('TZS', 'TZS'), ('UAH', 'UAH'), ('UGX', 'UGX'), ('USD', 'USD'), ('USN', 'USN'), ('UYI', 'UYI'), ('UYU', 'UYU'), ('UYW', 'UYW'), ('UZS', 'UZS'), ('VED', 'VED'), ('VES', 'VES'), ('VND', 'VND'), ('VUV', 'VUV'), ('WST', 'WST'), ('XAD', 'XAD'), ('XAF', 'XAF'), ('XCD', 'XCD'), ('XCG', 'XCG'), ('XOF', 'XOF'), ('XPF', 'XPF'), ('YER', 'YER'), ('ZAR', 'ZAR'), ('ZMW', 'ZMW'), ('ZWG', 'ZWG')], max_length=3, verbose_name='currency')),
                ('expenses_recorded', models.PositiveIntegerField(default=0, editable=False)),
                ('expenses_that_day', models.PositiveIntegerField(default=0, editable=False)),
                ('counted_on', models.DateField(editable=False, null=True)),
                ('period', models.PositiveIntegerField(db_default=0, default=0, editable=False)),
                ('oldest_open_period', models.PositiveIntegerField(db_default=0, default=0, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='created at')),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='updated at')),
                ('claimed_guests', models.TextField(db_default='', default='', editable=False)),
                ('deleted_at', models.DateTimeField(editable=False, null=True, verbose_name='deleted at')),
            ],
            options={
                'verbose_name': 'trip',
                'verbose_name_plural': 'trips',
                'indexes': [models.Index(fields=['-start_date', '-id'], name='trip_newest_start'), models.Index(condition=models.Q(('counted_on__isnull', False)), fields=['counted_on'], name='trip_by_last_expense'), models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='trip_by_deletion')],
                'constraints': [models.CheckConstraint(condition=models.Q(('end_date__gte', models.F('start_date'))), name='trip_ends_after_start'), models.CheckConstraint(condition=models.Q(('budget_minor', None), ('budget_minor__gt', 0), _connector='OR'), name='trip_budget_positive'), models.CheckConstraint(condition=models.Q(('join_role__in', ['EDITOR', 'VIEWER'])), name='trip_join_role_known'), models.CheckConstraint(condition=models.Q(('oldest_open_period__lte', models.F('period'))), name='trip_periods_in_order')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('OWNER', 'owner'), ('EDITOR', 'editor'), ('VIEWER', 'viewer')], max_length=6, verbose_name='role')),
                ('email', models.CharField(max_length=254, null=True, verbose_name='email')),
                ('email_key', models.CharField(db_index=True, max_length=508, null=True)),
                ('note', models.CharField(blank=True, default='', max_length=200, verbose_name='note')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('mailed_digest', models.CharField(max_length=64, null=True, unique=True)),
                ('max_uses', models.PositiveIntegerField(null=True, verbose_name='maximum of uses')),
                ('uses', models.PositiveIntegerField(default=0, verbose_name='uses')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('expires_at', models.DateTimeField(db_index=True, verbose_name='expires at')),
                ('revoked_at', models.DateTimeField(null=True, verbose_name='revoked at')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='invited by')),
                ('trip', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='trips.trip', verbose_name='trip')),
                ('guest', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to=settings.AUTH_USER_MODEL, verbose_name='guest')),
            ],
            options={
                'verbose_name': 'invitation',
                'verbose_name_plural': 'invitations',
                'constraints': [models.CheckConstraint(condition=models.Q(('max_uses', None), ('uses__lte', models.F('max_uses')), _connector='OR'), name='invitation_uses_in_range'), models.CheckConstraint(condition=models.Q(('role__in', ['OWNER', 'EDITOR', 'VIEWER'])), name='invitation_role_known')],
            },
        ),
        migrations.CreateModel(
            name='JournalEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField(verbose_name='number')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('via', models.CharField(choices=[('session', 'logged in'), ('token', 'scoped token'), ('admin', 'admin site'), ('service', 'service')], max_length=7, verbose_name='via')),
                ('event', models.CharField(choices=[('trip.created', 'trip created'), ('trip.changed', 'trip changed'), ('trip.deleted', 'trip deleted'), ('trip.restored', 'trip restored'), ('trip.code_renewed', 'trip code renewed'), ('member.added', 'member added'), ('member.joined', 'member joined'), ('member.role_changed', 'role changed'), ('member.left', 'member left'), ('member.removed', 'member removed'), ('guest.added', 'guest added'), ('guest.renamed', 'guest renamed'), ('guest.claimed', 'guest claimed'), ('guest.merged', 'guest merged'), ('invitation.created', 'invitation created'), ('invitation.revoked', 'invitation revoked'), ('invitation.accepted', 'invitation accepted'), ('expense.created', 'expense created'), ('expense.changed', 'expense changed'), ('expense.deleted', 'expense deleted'), ('expense.restored', 'expense restored'), ('split.added', 'split added'), ('split.deleted', 'split deleted'), ('split.paid', 'split paid'), ('split.unpaid', 'split unpaid'), ('settlement.created', 'settlement created'), ('settlement.deleted', 'settlement deleted'), ('settlement.restored', 'settlement restored'), ('comment.created', 'comment created'), ('comment.changed', 'comment changed'), ('comment.deleted', 'comment deleted')], max_length=24, verbose_name='event')),
                ('object_id', models.BigIntegerField(verbose_name='object')),
                ('expense_id', models.BigIntegerField(null=True)),
                ('person_id', models.BigIntegerField(null=True)),
                ('stored_changes', models.TextField()),
                ('by', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('trip', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='journal', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'journal entry',
                'verbose_name_plural': 'journal',
                'indexes': [models.Index(fields=['trip', 'at', 'number'], name='journal_by_time'), models.Index(fields=['trip', 'event', 'number'], name='journal_by_event'), models.Index(fields=['by', 'trip', 'number'], name='journal_by_author'), models.Index(condition=models.Q(('event', 'trip.deleted')), fields=['at'], name='journal_of_deleted_trips'), models.Index(condition=models.Q(('expense_id__isnull', False)), fields=['expense_id', 'number'], name='journal_by_expense')],
                'constraints': [models.UniqueConstraint(fields=('trip', 'number'), name='journal_number_in_trip'), models.CheckConstraint(condition=models.Q(('number__gt', 0)), name='journal_number_positive')],
            },
        ),
        migrations.CreateModel(
            name='Member',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('OWNER', 'owner'), ('EDITOR', 'editor'), ('VIEWER', 'viewer')], default='VIEWER', max_length=6, verbose_name='role')),
                ('joined_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='joined at')),
                ('left_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='left at')),
                ('paid_minor', models.BigIntegerField(default=0, editable=False)),
                ('share_minor', models.BigIntegerField(default=0, editable=False)),
                ('sent_minor', models.BigIntegerField(default=0, editable=False)),
                ('received_minor', models.BigIntegerField(default=0, editable=False)),
                ('owed_minor', models.BigIntegerField(db_default=0, default=0, editable=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL, verbose_name='user')),
                ('trip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='trips.trip', verbose_name='trip')),
            ],
            options={
                'verbose_name': 'member',
                'verbose_name_plural': 'members',
                'ordering': ['joined_at', 'id'],
                'constraints': [models.UniqueConstraint(fields=('trip', 'user'), name='member_once_in_trip'), models.CheckConstraint(condition=models.Q(('paid_minor__lte', 9223372036854775807), ('received_minor__lte', 9223372036854775807), ('sent_minor__lte', 9223372036854775807), ('share_minor__lte', 9223372036854775807)), name='member_sums_in_64_bits'), models.CheckConstraint(condition=models.Q(('owed_minor__gte', 0), ('owed_minor__lte', 9223372036854775807)), name='member_owed_in_range'), models.CheckConstraint(condition=models.Q(('role__in', ['OWNER', 'EDITOR', 'VIEWER'])), name='member_role_known')],
            },
        ),
    ]
