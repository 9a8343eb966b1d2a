"""The type of a file, recognised by how its content begins and never by its name."""

from importlib.util import find_spec

from django.db import models

#: How many bytes of a file `kind_of` needs.
START_BYTES = 16
#: What a HEIC or another HEIF picture calls itself after `ftyp`.
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}


class Kind(models.TextChoices):
    """The media type of an attachment."""

    JPEG = "image/jpeg", "JPEG"
    PNG = "image/png", "PNG"
    WEBP = "image/webp", "WebP"
    HEIC = "image/heic", "HEIC"
    PDF = "application/pdf", "PDF"


def extension_of(media_type: str) -> str:
    """How the names of files of a stored type end; a newer release may have stored others."""
    if media_type == Kind.JPEG:
        return "jpg"
    return media_type.partition("/")[2] if media_type in Kind.values else "bin"


def kind_of(start: bytes) -> Kind | None:
    """The type of a file that begins with these bytes, or None if it is none that is accepted."""
    if start.startswith(b"\xff\xd8\xff"):
        return Kind.JPEG
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return Kind.PNG
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return Kind.WEBP
    # Readers of PDF accept other bytes before it, which is how a file can be of two types.
    if start.startswith(b"%PDF-"):
        return Kind.PDF
    if start[4:8] == b"ftyp" and start[8:12] in _HEIF_BRANDS and find_spec("pillow_heif"):
        return Kind.HEIC
    return None
