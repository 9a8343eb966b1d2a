"""Does all work in the background in one process."""

from typing import Any

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from tripcompanion.database.watching import until_stopped, watch_all
from tripcompanion.plugin import plugins


class Command(BaseCommand):
    """Several instances may run at once, also beside the commands that this one stands for."""

    help = (
        "Run the commands of all apps that have --watch, in one process, until SIGTERM or SIGINT. "
        "If one fails, the process ends."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        names = [name for app in plugins() for name in app.watchers]
        apps = get_commands()
        commands: list[Any] = [load_command_class(apps[name], name) for name in names]
        watch_all([command.watch for command in commands], until_stopped())
