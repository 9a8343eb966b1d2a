"""Cleans one picture. `processing.py` runs it as a process of its own, because a file may crash it.

It reads `source` in the given folder, writes `cleaned` and `thumbnail` beside it, and knows
neither settings nor database. If it fails in any way, the picture is refused.
"""

import re
import resource
import sys
from pathlib import Path

from PIL import Image, ImageOps

MEBIBYTE = 1024 * 1024
#: As large as photos of common phones. No camera makes the other types, which take more memory.
MAX_PIXELS = {"JPEG": 51_000_000, "HEIF": 51_000_000, "PNG": 25_000_000, "WEBP": 25_000_000}
#: Larger pictures are scaled down to this, which reads well; a long bill keeps its width.
KEPT_PIXELS = 12_000_000
#: WebP allows hardly more.
MAX_SIDE = 16_000
THUMBNAIL_SIDE = 480
QUALITY = 85
MAX_BYTES = 10 * MEBIBYTE
#: The exit status for too many pixels. Any other than 0 means that it cannot be decoded.
TOO_MANY_PIXELS = 3
#: More are no photo: each scan of a JPEG takes the time of a whole picture.
MAX_SCANS = 32
#: No photo has more segments, or as many bytes between two: the decoder is slow with both.
MAX_SEGMENTS, MAX_PADDING = 10_000, 100_000
#: The time of 120 pictures, which one account may upload in an hour, is a quarter of it.
_MEMORY_BYTES, _CPU_SECONDS = 512 * MEBIBYTE, 7
#: To compress harder takes twice the time, and saves little.
_FAST = {"compress_level": 3, "method": 2}
#: What ends the data of a scan: a marker, other than a byte that is part of it or a restart.
_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]")
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_FORMATS = {"image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP", "image/heic": "HEIF"}


def main(folder: Path, media_type: str) -> None:
    """Clean `source` in `folder`."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    # At the first, the process gets SIGXCPU, and SIGKILL only at the second.
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MAX_BYTES, 4 * MAX_BYTES))
    kind = _FORMATS[media_type]
    if kind == "HEIF":
        # In the extra `heic`, which may not be installed.
        from pillow_heif import register_heif_opener  # noqa: PLC0415 -- an extra

        register_heif_opener(thumbnails=False, decode_threads=1)
    picture = _decoded(folder / "source", kind)
    limit = max(MEBIBYTE, 2 * (folder / "source").stat().st_size)
    _save(picture, folder / "cleaned", kind, min(limit, MAX_BYTES))
    picture.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    _on_white(picture).save(folder / "thumbnail", "JPEG", quality=QUALITY)


def _decoded(path: Path, kind: str) -> Image.Image:
    """The first picture of the file, upright, scaled down, and without anything but its pixels."""
    if kind == "JPEG" and scans_of(path.read_bytes()) > MAX_SCANS:
        sys.exit("Too many scans")
    try:
        # No other decoder may try, whatever the file looks like to it.
        found: Image.Image = Image.open(path, formats=[kind])
    except Image.DecompressionBombError:
        sys.exit(TOO_MANY_PIXELS)
    width, height = found.size
    if width * height > MAX_PIXELS[kind]:
        sys.exit(TOO_MANY_PIXELS)
    scale = min(1.0, (KEPT_PIXELS / (width * height)) ** 0.5, MAX_SIDE / max(width, height))
    size = max(1, int(width * scale)), max(1, int(height * scale))
    # JPEG is decoded at a fraction of its size.
    found.draft("RGB", size)
    found.load()
    found.thumbnail(size, reducing_gap=2.0)
    found = ImageOps.exif_transpose(found)
    if found.mode.startswith("I"):
        # `convert` would take all but the darkest of 16 bits for white.
        found.info.pop("transparency", None)
        found = found.point(lambda value: value / 256).convert("L")
    mode = "RGBA" if found.has_transparency_data else "L" if found.mode in {"1", "L"} else "RGB"
    found = found.convert(mode)
    found.info.clear()
    return found


def scans_of(content: bytes) -> int:
    """How many scans the first picture of a JPEG has; exits if it has too many segments."""
    scans, segments, found = 0, 0, _MARKER.search(content, 2)
    while found and content[found.end() - 1] != _END_OF_IMAGE:
        scans += content[found.end() - 1] == _START_OF_SCAN
        segments += 1
        if segments - scans > MAX_SEGMENTS or len(found[0]) > MAX_PADDING:
            sys.exit("Too many segments")
        length = int.from_bytes(content[found.end() : found.end() + 2])
        found = _MARKER.search(content, found.end() + length)
    return scans


def _save(picture: Image.Image, path: Path, kind: str, limit_bytes: int) -> None:
    """Encode it as it was, or as JPEG if that is HEIC or too large.

    What repeats compresses well until it is scaled down. So the result may be many times as large
    as the file that was counted in the quotas.
    """
    if kind in {"PNG", "WEBP"}:
        picture.save(path, kind, quality=QUALITY, **_FAST)
        if path.stat().st_size <= limit_bytes:
            return
    picture = _on_white(picture)
    for quality, factor in ((QUALITY, 1), (70, 1), (QUALITY // 2, 1), (QUALITY // 2, 2)):
        picture.reduce(factor).save(path, "JPEG", quality=quality)
        if path.stat().st_size <= limit_bytes:
            return


def _on_white(picture: Image.Image) -> Image.Image:
    """The picture without transparency, which JPEG does not have."""
    if picture.mode != "RGBA":
        return picture
    page = Image.new("RGB", picture.size, "white")
    page.paste(picture, mask=picture.getchannel("A"))
    return page


if __name__ == "__main__":
    Image.MAX_IMAGE_PIXELS = max(MAX_PIXELS.values())
    main(Path(sys.argv[1]), sys.argv[2])
