"""Conditions on expenses and settlements."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import ceil, floor
from typing import Any

from django.db import models
from django.db.models import Case, Count, Exists, F, Min, OuterRef, Q, QuerySet, Value

from plugins.words import HasWords, Lines
from splits.models import Debt, Expense, Split
from splits.models.in_trip import added_rows, is_among
from splits.models.tag import tag_key
from tripcompanion.currency.amounts import EXPONENTS

#: The rows of an expense in a subquery. By the trip, too, so that Citus joins them where they are.
_OF_EXPENSE = {"trip": OuterRef("trip"), "expense": OuterRef("pk")}


class HasOneOf(models.Func):
    """Whether `column`, a JSON array of texts, has one of `texts`."""

    template, arg_joiner = (
        "%(expressions)s::jsonb))",
        " ?| ARRAY(SELECT jsonb_array_elements_text(",
    )
    output_field = models.BooleanField()

    def __init__(self, column: str, texts: Iterable[str]) -> None:
        known = Value(json.dumps(list(texts)), output_field=models.TextField())
        super().__init__(F(column), known)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        options = {
            "template": "EXISTS (SELECT 1 FROM json_each(%(expressions)s)))",
            "arg_joiner": ") WHERE value IN (SELECT value FROM json_each(",
        }
        return self.as_sql(compiler, connection, **options, **extra)


def with_words(words: Sequence[str], **narrowed: Any) -> Q:
    """Condition on expenses: each word is in their texts and tags, or in one row that they have.

    `narrowed` are conditions on these rows, without which PostgreSQL may read those of all trips.
    """
    found = Q(HasWords(words, "description", "notes", Lines("tags")))
    for rows in added_rows().values():
        those = rows.model.objects.filter(HasWords(words, rows.text), **_OF_EXPENSE)
        found |= Q(Exists(those.filter(**narrowed)))
    return found


def is_open() -> Exists:
    """Condition on expenses: something of one of their splits is still owed."""
    debts = Debt.objects.open().filter(trip=OuterRef("trip"), split=OuterRef("pk"))
    return Exists(Split.objects.filter(Exists(debts), **_OF_EXPENSE))


def is_open_in(trip_id: int) -> Case:
    """The same condition on the expenses of one trip, which finds the open ones once."""
    debts = Debt.objects.open().filter(trip=trip_id, split__trip=trip_id).order_by()
    return is_among(debts.values("split__expense"))


def amount_between(field: str, currency: str, least: Decimal, most: Decimal) -> Q:
    """Condition on rows whose `field`, in minor units of the field `currency`, is in that range."""
    found = Q()
    for decimals in sorted(set(EXPONENTS.values())):
        codes = [code for code, exponent in EXPONENTS.items() if exponent == decimals]
        limits = (least.scaleb(decimals), most.scaleb(decimals))
        # The smallest whole number in the range, and the largest.
        whole = (ceil(limits[0]), floor(limits[1]))
        found |= Q((f"{currency}__in", codes), (f"{field}__range", whole))
    return found


def spellings(rows: QuerySet[Expense]) -> dict[str, Counter[str]]:
    """How often each spelling of a tag occurs, the earliest first, by the key of the tag."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    lists = rows.exclude(tags=[]).order_by().values_list("tags")
    # Few expenses differ in their tags.
    for tags, count, _first in lists.annotate(Count("pk"), first=Min("pk")).order_by("first"):
        for tag in tags:
            found[tag_key(tag)][tag] += count
    return found


def tagged(rows: QuerySet[Expense], tag: str) -> QuerySet[Expense]:
    """The expenses in `rows` that have the tag, in any spelling."""
    return rows.filter(HasOneOf("tags", spellings(rows).get(tag_key(tag), ())))
