"""Serializers of the search."""

from django.utils.translation import gettext as _
from rest_framework import serializers

from plugins.fields import QueryId
from plugins.search.words import MAX_SNIPPET_CHARS, words_of
from tripcompanion.api.serializers import CamelCaseSerializer, StrictChoice, StrictText
from trips.models.events import trip_objects

#: How many words a search has.
MAX_WORDS = 10

_TYPES = [name for name, shape in trip_objects().items() if shape.searched]


class SearchQuery(CamelCaseSerializer):
    """What to search, and where."""

    q = StrictText(
        max_length=255,
        help_text=(
            f"Up to {MAX_WORDS} words, or their beginnings, without regard to case and accents. "
            "Each is in what is found. All signs but letters and digits separate words."
        ),
    )
    type = StrictChoice(
        choices=[(name, name) for name in _TYPES],
        required=False,
        help_text="Only objects of this type.",
    )
    trip_id = QueryId(required=False, help_text="Only in this trip, if the caller may see it.")

    def validate_q(self, text: str) -> list[str]:
        """The words in it."""
        words = [*dict.fromkeys(words_of(text))]
        if not words:
            raise serializers.ValidationError(_("Must have a letter or a digit."))
        if len(words) > MAX_WORDS:
            text = _("Must have at most %(max)s different words.")
            raise serializers.ValidationError(text % {"max": MAX_WORDS})
        return words


class FoundSerializer(CamelCaseSerializer):
    """An object that was found."""

    type = serializers.CharField(help_text="The type of the object, as in the history.")
    id = serializers.IntegerField(help_text="Its id; that of the user for a member.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    title = serializers.CharField(
        help_text="Its title, description or name; the title of the trip for what has none."
    )
    text = serializers.CharField(
        help_text=(
            f"At most {MAX_SNIPPET_CHARS} characters of its other texts, about the first word that "
            "was found. It is plain text, which a page has to escape."
        )
    )
    at = serializers.DateTimeField(help_text="When it was made; of a member, when they joined.")
