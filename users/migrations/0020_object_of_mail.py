from django.db import migrations, models


class Migration(migrations.Migration):
    """The column keeps its name, which the previous release uses beside this one."""

    dependencies = [
        ('users', '0019_first_notices'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField('mail', 'invitation_id', 'object_id'),
                migrations.AlterField(
                    'mail', 'object_id', models.BigIntegerField(db_column='invitation_id', db_index=True, null=True)
                ),
            ],
        ),
        migrations.AlterField(
            model_name='emailtoken',
            name='letter',
            field=models.CharField(choices=[('RESET', 'password reset requested'), ('VERIFY', 'e-mail address confirmation'), ('PASSWORD_CHANGED', 'password changed'), ('EMAIL_CHANGED', 'e-mail address changed'), ('WRONG_PASSWORDS', 'many wrong passwords'), ('MEMBER_ADDED', 'notice: added to a trip'), ('SPLIT_PAID', 'notice: split paid'), ('EXPENSE_CREATED', 'notice: expense recorded'), ('EXPENSE_CHANGED', 'notice: expense changed')], max_length=16),
        ),
    ]
