"""Tags: free words by which the members of a trip group its expenses."""

from collections.abc import Iterable

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
