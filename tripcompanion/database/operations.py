"""Operations of migrations that Django does not have."""

from typing import Any

from django.db.migrations.operations import AddConstraint, AddIndex, RemoveIndex
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState


class AddIndexWithoutLock(AddIndex):
    """Create an index while others write to the table. The migration is not atomic.

    Django's `AddIndexConcurrently` does not run on SQLite.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.add_index(model, self.index, **_option(schema_editor))

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        schema_editor.remove_index(model, self.index, **_option(schema_editor))


class RemoveIndexWithoutLock(RemoveIndex):
    """Drop an index while others write to the table. The migration is not atomic."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        index = from_state.models[app_label, self.model_name_lower].get_index_by_name(self.name)
        schema_editor.remove_index(model, index, **_option(schema_editor))

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        index = to_state.models[app_label, self.model_name_lower].get_index_by_name(self.name)
        schema_editor.add_index(model, index, **_option(schema_editor))


class AddCheckWithoutLock(AddConstraint):
    """Add a CHECK, and check the rows while others write to them. The migration is not atomic."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(f"{self.constraint.create_sql(model, schema_editor)} NOT VALID")
        table, name = map(schema_editor.quote_name, (model._meta.db_table, self.constraint.name))
        schema_editor.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


class RemoveForeignKeyIndex(Operation):
    """Drop the index of a foreign key, without locking the table. The migration is not atomic.

    `AlterField` with `db_index=False` would also drop the constraint, and check all rows again. The
    name of the index comes from a private method of Django's schema editor, as its creation does.
    """

    category = OperationCategory.REMOVAL

    def __init__(self, model_name: str, name: str) -> None:
        self.model_name, self.name = model_name, name

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        model = self.model_name.lower()
        field = state.models[app_label, model].fields[self.name].clone()
        field.db_index = False
        state.alter_field(app_label, model, self.name, field, preserve_default=True)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        index, _table, _column = self._names(app_label, schema_editor, from_state)
        kind = f"INDEX{_concurrently(schema_editor)} IF EXISTS"
        schema_editor.execute(f"DROP {kind} {schema_editor.quote_name(index)}")

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        names = self._names(app_label, schema_editor, to_state)
        index, table, column = map(schema_editor.quote_name, names)
        kind = f"INDEX{_concurrently(schema_editor)} IF NOT EXISTS"
        schema_editor.execute(f"CREATE {kind} {index} ON {table} ({column})")

    def describe(self) -> str:
        return f"Remove the index of {self.model_name}.{self.name}"

    def _names(self, app_label: str, schema_editor: Any, state: Any) -> tuple[str, str, str]:
        options = state.apps.get_model(app_label, self.model_name)._meta
        column = options.get_field(self.name).column
        index = schema_editor._create_index_name(options.db_table, [column])
        return index, options.db_table, column


def _option(schema_editor: Any) -> dict[str, bool]:
    return {"concurrently": True} if schema_editor.connection.vendor == "postgresql" else {}


def _concurrently(schema_editor: Any) -> str:
    return " CONCURRENTLY" if schema_editor.connection.vendor == "postgresql" else ""
