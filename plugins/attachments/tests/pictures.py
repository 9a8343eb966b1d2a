"""Files to attach, and how to send them."""

import io
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from PIL import Image

#: On a phone that was held upright in Lisbon.
ORIENTATION, GPS, GPS_LATITUDE = 0x0112, 0x8825, 2
PDF = b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


def picture(kind: str = "JPEG", size: tuple[int, int] = (64, 40), **options: Any) -> bytes:
    """A picture whose left half is red; a JPEG lies on its side and says where it was taken."""
    image = Image.new("RGB", size, "white")
    image.paste("red", (0, 0, size[0] // 2, size[1]))
    if kind in {"JPEG", "WEBP", "PNG"}:
        exif = Image.Exif()
        exif[ORIENTATION] = 6
        exif.get_ifd(GPS)[GPS_LATITUDE] = (38.0, 42.0, 30.0)
        options["exif"] = exif
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def send(client: Any, path: str, content: bytes, name: str = "taxi.jpg", **more: Any) -> Any:
    """Upload a file; `more` are headers."""
    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile(name, content)})
    return client.post(path, body, content_type=MULTIPART_CONTENT, **more)
