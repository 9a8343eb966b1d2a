"""Tags: free words by which the members of a trip group its expenses."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from django.db.models import Count, Min, QuerySet

from splits.models.expense import Expense
from tripcompanion.database.expressions import HasOneOf

MAX_TAGS = 10
MAX_TAG_CHARS = 40


def tag_key(tag: str) -> str:
    """What two spellings of the same tag have in common; tags are compared without case."""
    return tag.casefold()


def clean_tags(tags: Iterable[str]) -> list[str]:
    """The tags with single spaces, without empty ones and repetitions, in their order."""
    found: dict[str, str] = {}
    for tag in (" ".join(tag.split()) for tag in tags):
        if tag:
            found.setdefault(tag_key(tag), tag)
    return list(found.values())


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
