from django.db import migrations, models

import users.mail_templates


class Migration(migrations.Migration):
    """The default of the column stays, for the release before; the model has one of the apps."""

    dependencies = [
        ('users', '0018_second_factor_leaves'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='user',
                    name='notice_events',
                    field=models.CharField(blank=True, default=users.mail_templates.first_notices, editable=False, max_length=200),
                ),
            ],
        ),
        migrations.AlterField(
            model_name='emailtoken',
            name='letter',
            field=models.CharField(choices=[('RESET', 'password reset requested'), ('VERIFY', 'e-mail address confirmation'), ('PASSWORD_CHANGED', 'password changed'), ('EMAIL_CHANGED', 'e-mail address changed'), ('INVITATION', 'invitation to a trip'), ('WRONG_PASSWORDS', 'many wrong passwords'), ('MEMBER_ADDED', 'notice: added to a trip'), ('SPLIT_PAID', 'notice: split paid'), ('EXPENSE_CREATED', 'notice: expense recorded'), ('EXPENSE_CHANGED', 'notice: expense changed')], max_length=16),
        ),
    ]
