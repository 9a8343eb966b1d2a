"""Fills the sums of `trips.0004` from the debts that there are.

Debts must not move between this and the start of the new version. To fill the sums again, migrate
back to 0001, which changes nothing, and forward.
"""

from django.db import migrations
from django.db.models import BigIntegerField, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce


def fill(apps, _schema_editor):
    is_theirs = {"trip": OuterRef("trip"), "debtor": OuterRef("user")}
    debts = apps.get_model("splits", "Debt").objects.filter(open_minor__gt=0, **is_theirs)
    sums = debts.order_by().values("debtor").annotate(sum=Sum("open_minor")).values("sum")
    owed_minor = Coalesce(Subquery(sums), 0, output_field=BigIntegerField())
    apps.get_model("trips", "Member").objects.update(owed_minor=owed_minor)


class Migration(migrations.Migration):

    dependencies = [
        ("splits", "0001_initial"),
        ("trips", "0004_owed_sum"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
