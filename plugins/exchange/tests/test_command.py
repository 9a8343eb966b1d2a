"""`manage.py import_trip`, and the commands that the README of this plugin has for each system."""

import re
import shlex
from io import StringIO
from itertools import chain
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation

from plugins.exchange.formats import FORMATS, PROGRAMS
from plugins.exchange.models import Import
from plugins.exchange.tests.samples import SAMPLES, SPLITWISE_CSV
from splits.reports.audit import differences
from tests.document import ROOT
from tripcompanion.observability import progress
from trips.models import Trip

#: The samples of each program, whose commands are in the table of the README; CSV first.
BY_KIND = sorted(FORMATS, key=lambda name: not name.endswith("csv"))
SYSTEMS = {
    program: [name for name in BY_KIND if program == FORMATS[name].PROGRAM] for program in PROGRAMS
}


def readme_commands():
    """The commands of each system; the header of the table has the start and the end of all."""
    section = (
        (ROOT / "plugins" / "exchange" / "README.md")
        .read_text()
        .partition("## Coming from another service\n")[2]
    )
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    (_from, _what, header), *rows = (line.strip("| ").split(" | ") for line in lines)
    start, end = re.findall("`(.+?)`", header)
    return {
        system: [f"{start} {words} {end}" for words in re.findall("`(.+?)`", cell)]
        for system, _what, cell in rows
    }


COMMANDS = readme_commands()


def run(*arguments):
    out = StringIO()
    call_command("import_trip", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_readme_has_commands_for_every_system():
    assert sorted(COMMANDS) == sorted(PROGRAMS)
    assert {*chain(*SYSTEMS.values())} == SAMPLES.keys()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (command, name)
        for system, formats in SYSTEMS.items()
        for command, name in zip(COMMANDS.get(system, ()), formats, strict=False)
    ],
)
def test_every_command_of_the_readme_imports_a_file(command, name, olga, tmp_path, monkeypatch):
    python, manage, script, file, *options = shlex.split(command)
    assert (python, manage, script) == (".venv/bin/python", "manage.py", "import_trip")
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(SAMPLES[name][0])
    shown = run(file, *options)
    made = Trip.objects.get()
    assert shown.endswith(f"Recorded in trip {made.pk}.\n")
    assert Import.objects.get().format == name
    assert made.expenses.exists()
    assert not list(differences())


def test_the_command_imports_a_file(olga, tmp_path):
    path = tmp_path / "file.csv"
    path.write_text(SPLITWISE_CSV)
    assert "2 expenses, 1 payments" in run(path, "--user", olga.email)
    assert not Trip.objects.exists()
    run(path, "--user", olga.email, "--confirm")
    assert Trip.objects.get().expenses.count() == 2
    for refused in (
        (tmp_path / "none", "--user", olga.email),
        (path, "--user", "nobody@example.com"),
    ):
        with pytest.raises(CommandError):
            run(*refused)


def test_a_refusal_names_the_options_of_the_command(olga, tmp_path):
    path = tmp_path / "bills.csv"
    path.write_text(
        "what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat\n"
        "Bus,9,2026-05-01,,Ana,1,1,Ben,n\n"
    )
    for options, said in (
        ([], "The file does not say its currency. Please send --currency."),
        (["--currency", "EURO"], "Error: argument --currency: invalid choice: 'EURO'"),
        (["--currency", "EUR", "--person", "Ana=999"], "--person"),
        (["--currency", "EUR", "--trip", "999"], "The account is not in the trip that --trip"),
    ):
        with translation.override("en"), pytest.raises(CommandError) as refused:
            run(path, "--user", olga.email, *options)
        assert str(refused.value).startswith(said), refused.value
        assert "ErrorDetail" not in str(refused.value)


def test_the_command_takes_who_is_who(olga, ed, tmp_path):
    path = tmp_path / "file.csv"
    path.write_text(SPLITWISE_CSV)
    run(path, "--user", olga.email, "--person", f"Cleo, Jr={ed.pk}", "--confirm")
    assert Trip.objects.get().members.filter(user=ed).exists()


def test_an_import_says_what_it_reads_and_records(olga, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.001)
    path, log = tmp_path / "file.csv", StringIO()
    path.write_text(SPLITWISE_CSV)
    arguments = (str(path), "--user", olga.email, "--confirm")
    call_command("import_trip", *arguments, stdout=StringIO(), stderr=log)
    assert "Reading the file" in log.getvalue()
    assert "Recording" in log.getvalue()
