from django.db import migrations, models

import users.mail_templates


def plain(model, name, **options):
    """A foreign key becomes the number that its column holds."""
    field = models.BigIntegerField(null=True, db_index=True, **options)
    return [migrations.RemoveField(model, name), migrations.AddField(model, f'{name}_id', field)]


class Migration(migrations.Migration):
    """What is removed here stays in the database, with its defaults, for the release before."""

    replaces = [
        ('users', '0010_former_names'), ('users', '0011_answers'), ('users', '0012_letters'),
        ('users', '0013_no_keys_upwards'), ('users', '0014_recurring_mail'),
        ('users', '0015_no_position'), ('users', '0016_letters_of_plugins'),
        ('users', '0017_notices_of_plugins'), ('users', '0018_second_factor_leaves'),
        ('users', '0019_first_notices'), ('users', '0020_object_of_mail'),
    ]

    dependencies = [
        ('users', '0002_mail_of_1_0_0'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='former_names',
            field=models.TextField(db_default='', default='', editable=False),
        ),
        migrations.AddField(
            model_name='user',
            name='is_unanswered',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='user',
            name='may_be_added',
            field=models.BooleanField(db_default=True, default=True, verbose_name='may be added to trips'),
        ),
        migrations.AlterField(
            model_name='user',
            name='notice_events',
            field=models.CharField(blank=True, db_default='member.added split.paid expense.created expense.changed comment.created', default='member.added split.paid expense.created expense.changed comment.created', editable=False, max_length=200),
        ),
        migrations.AlterField(
            model_name='emailtoken',
            name='letter',
            field=models.CharField(choices=[('RESET', 'password reset requested'), ('VERIFY', 'e-mail address confirmation'), ('PASSWORD_CHANGED', 'password changed'), ('EMAIL_CHANGED', 'e-mail address changed'), ('WRONG_PASSWORDS', 'many wrong passwords'), ('MEMBER_ADDED', 'notice: added to a trip'), ('SPLIT_PAID', 'notice: split paid'), ('EXPENSE_CREATED', 'notice: expense recorded'), ('EXPENSE_CHANGED', 'notice: expense changed')], max_length=16),
        ),
        migrations.AlterField(
            model_name='mail',
            name='letter',
            field=models.CharField(choices=users.mail_templates.letters, max_length=16, verbose_name='subject'),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField('user', 'wal_position'),
                *plain('mail', 'trip'),
                *plain('mail', 'expense'),
                *plain('mail', 'invitation'),
                *plain('scopedtoken', 'trip', verbose_name='trip', blank=True),
                migrations.AlterField(
                    model_name='user',
                    name='notice_events',
                    field=models.CharField(blank=True, default=users.mail_templates.first_notices, editable=False, max_length=200),
                ),
                migrations.RenameField('mail', 'invitation_id', 'object_id'),
                migrations.AlterField(
                    'mail', 'object_id', models.BigIntegerField(db_column='invitation_id', db_index=True, null=True)
                ),
            ],
        ),
    ]
