from django.db import migrations, models

from users.mail_templates import first_notices


class AlterOnPostgreSQL(migrations.AlterField):
    """SQLite enforces no length. It would copy the table, without columns of the release before."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("users", "0011_letters_of_plugins")]
    operations = [
        AlterOnPostgreSQL("scopedtoken", "scope_words", models.TextField(verbose_name="scopes")),
        AlterOnPostgreSQL(
            "user", "notice_events", models.TextField(default=first_notices, blank=True, editable=False)
        ),
    ]
