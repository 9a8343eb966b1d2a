"""The categories of these clients, and ours."""

from collections.abc import Mapping

from splits.models import Category

GENERAL = 18
#: The categories by the ids and names of their parents.
# fmt: off
TREE: Mapping[tuple[int, str], Mapping[int, str]] = {
    (1, "Utilities"): {
        48: "Cleaning", 5: "Electricity", 6: "Heat/gas", 11: "Other", 37: "Trash",
        8: "TV/Phone/Internet", 7: "Water",
    },
    (2, "Uncategorized"): {GENERAL: "General"},
    (19, "Entertainment"): {20: "Games", 21: "Movies", 22: "Music", 23: "Other", 24: "Sports"},
    (25, "Food and drink"): {13: "Dining out", 12: "Groceries", 38: "Liquor", 26: "Other"},
    (27, "Home"): {
        39: "Electronics", 16: "Furniture", 14: "Household supplies", 17: "Maintenance",
        4: "Mortgage", 28: "Other", 29: "Pets", 3: "Rent", 30: "Services",
    },
    (31, "Transportation"): {
        46: "Bicycle", 32: "Bus/train", 15: "Car", 33: "Gas/fuel", 47: "Hotel", 34: "Other",
        9: "Parking", 35: "Plane", 36: "Taxi",
    },
    (40, "Life"): {
        50: "Childcare", 41: "Clothing", 49: "Education", 42: "Gifts", 10: "Insurance",
        43: "Medical expenses", 44: "Other", 45: "Taxes",
    },
}
# fmt: on
NAMES: Mapping[int, str] = {pk: name for children in TREE.values() for pk, name in children.items()}
_BY_PARENT = {19: Category.ACTIVITIES, 25: Category.FOOD, 31: Category.TRANSPORT}
_OURS: Mapping[int, Category] = {
    **{
        pk: _BY_PARENT.get(parent, Category.OTHER)
        for (parent, _name), children in TREE.items()
        for pk in children
    },
    **dict.fromkeys((47, 3, 4), Category.ACCOMMODATION),
}
#: What an expense is shown with if no client gave it a category.
_THEIRS: Mapping[str, int] = {
    Category.ACCOMMODATION: 47,
    Category.FOOD: 26,
    Category.TRANSPORT: 34,
    Category.ACTIVITIES: 23,
    Category.OTHER: GENERAL,
}


def our_category(category_id: int) -> Category:
    """Our category for one of theirs; raises KeyError for an unknown id, or a parent's."""
    return _OURS[category_id]


def their_category(category: str, given: int | None) -> int:
    """The id of a category: the `given` one, unless ours has changed since."""
    is_ours = given is not None and _OURS.get(given) == category
    return given if given is not None and is_ours else _THEIRS.get(category, GENERAL)
