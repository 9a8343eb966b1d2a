"""Files that are not what they say, or that are made to harm whoever reads them."""

import io
import random
import resource
import struct
import zlib

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from PIL import Image

from plugins.attachments import cleaning
from plugins.attachments.models import Attachment
from plugins.attachments.processing import process
from plugins.attachments.tests.conftest import stored
from plugins.attachments.tests.pictures import PDF, picture, send

pytestmark = pytest.mark.once
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
RGB, RGBA_16, GREY_16 = (8, 2, 0), (16, 6, 0), (16, 0, 0)
INTERLACED, INTERLACED_16 = (8, 2, 1), (16, 6, 1)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, *chunks, pixels=b"", kind=RGB):
    """`kind` is the number of bits, the type of colour, and whether it is interlaced."""
    bits, colour, interlaced = kind
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced)
    parts = [chunk(b"IHDR", head), *chunks, chunk(b"IDAT", zlib.compress(pixels, 9))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


def animated(frames):
    out = io.BytesIO()
    first, *others = (Image.new("1", (8, 8), number % 2) for number in range(frames))
    first.save(out, "PNG", save_all=True, append_images=others, duration=1)
    return out.getvalue()


def filtered(side, kind):
    """A square with the filter that takes longest, and noise in each fiftieth line."""
    bits, colour, interlaced = kind
    width = {0: 1, 2: 3, 6: 4}[colour] * bits // 8
    # Where each of the seven passes starts, and its steps (PNG specification, 8.2).
    passes = ["0088", "4088", "0448", "2044", "0224", "1022", "0112"] if interlaced else ["0011"]
    noise, lines = random.Random(1).randbytes(side * width), []
    for x, y, step_x, step_y in (map(int, one) for one in passes):
        length = (side - x + step_x - 1) // step_x * width
        for row in range((side - y + step_y - 1) // step_y):
            lines.append(b"\x04" + (bytes(length) if row % 50 else noise[:length]))
    return png(side, side, pixels=b"".join(lines), kind=kind)


BROKEN = {
    "only a signature": b"\x89PNG\r\n\x1a\n",
    "truncated": picture(size=(640, 400))[:900],
    "JPEG signature before a script": b"\xff\xd8\xff\xe0" + SVG,
    "WebP signature before zeros": b"RIFF\x00\x00\x00\x00WEBP" + bytes(900),
    "no pixels": png(40, 40),
    "giant compressed text": png(
        8, 8, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(80 * 1024**2), 1))
    ),
}


def test_a_form_needs_a_file_that_is_neither_empty_nor_too_large(api, olga, dinner, folder):
    path, client = f"/api/expenses/{dinner.pk}/attachments", api(olga)
    assert "file" in send(client, path, b"").json()["errors"]
    form = encode_multipart(BOUNDARY, {"name": "x"})
    answer = client.post(path, form, content_type=MULTIPART_CONTENT)
    assert "file" in answer.json()["errors"]
    assert client.post(path, {"file": "x"}).json()["code"] == "unsupported_type"
    mebibytes = 10 * 1024**2
    assert send(client, path, PDF.ljust(mebibytes, b"\n")).status_code == 201
    for size in (mebibytes + 1, mebibytes + 1024**2):
        answer = send(client, path, PDF.ljust(size, b"\n"))
        assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
    assert len(stored(folder)) == 1


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_picture_is_refused_and_gone(content, attach, api, olga, folder):
    made = attach(content)
    assert process()
    shown = api(olga).get(f"/api/attachments/{made['id']}").json()
    assert (shown["state"], shown["thumbnailUrl"], shown["bytes"]) == ("refused", None, 0)
    answer = api(olga).get(made["url"])
    assert (answer.status_code, answer.json()["code"]) == (409, "attachment_refused")
    assert answer.json()["detail"] == "The file was refused: it cannot be read."
    assert stored(folder) == []


@pytest.mark.parametrize("side", [5100, 60_000])
def test_a_bomb_is_refused_before_it_is_decoded(side, attach, api, olga):
    attach(png(side, side, pixels=bytes(1024)))
    process()
    [row] = Attachment.objects.all()
    assert row.refusal == "too_many_pixels"
    detail = api(olga).get(row.url).json()["detail"]
    assert detail == "The file was refused: it has too many pixels."


@pytest.mark.parametrize(
    "kind",
    # To encode the largest HEIF takes half a minute.
    [
        pytest.param(kind, marks=[pytest.mark.slow] * (kind == "HEIF"))
        for kind in cleaning.MAX_PIXELS
    ],
)
def test_the_largest_picture_fits_into_the_memory_of_its_process(attach, kind):
    if kind == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()
    mode = "RGBA" if kind in {"PNG", "WEBP"} else "RGB"
    height = cleaning.MAX_PIXELS[kind] // 8000
    out = io.BytesIO()
    Image.linear_gradient("L").resize((8000, height)).convert(mode).save(out, kind)
    attach(out.getvalue())
    process()
    assert Attachment.objects.get().state == "ready"


@pytest.mark.parametrize(("side", "kind"), [(5000, "image/jpeg"), (400, "image/png")])
def test_a_cleaned_picture_is_not_much_larger_than_the_file_that_was_counted(attach, side, kind):
    rows = [random.Random(row).randbytes(8) * (side // 8) for row in range(8)]
    out = io.BytesIO()
    Image.frombytes("L", (side, side), b"".join(rows) * (side // 8)).save(out, "PNG")
    attach(out.getvalue())
    process()
    [row] = Attachment.objects.all()
    assert (row.state, row.type) == ("ready", kind)
    assert row.size_bytes <= max(cleaning.MEBIBYTE, 2 * len(out.getvalue()))


def test_only_the_first_of_many_frames_is_kept(attach, api, olga):
    made = attach(animated(10_000))
    process()
    image = Image.open(io.BytesIO(api(olga).get(made["url"]).content))
    assert getattr(image, "n_frames", 1) == 1


def test_sixteen_bits_keep_their_shades(attach, api, olga):
    lines = b"\0" + struct.pack(">5H", *(value << 8 for value in (0, 40, 128, 220, 255)))
    # What is transparent has no shade of 8 bits.
    for transparent in ([], [chunk(b"tRNS", struct.pack(">H", 128 << 8))]):
        made = attach(png(5, 1, *transparent, pixels=lines, kind=GREY_16))
        process()
        image = Image.open(io.BytesIO(api(olga).get(made["url"]).content))
        assert [image.getpixel((at, 0)) for at in range(5)] == [0, 40, 128, 220, 255]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [GREY_16, RGBA_16, INTERLACED, INTERLACED_16], ids=str)
def test_no_picture_takes_more_than_its_time(attach, kind):
    attach(filtered(5000, kind))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < cleaning._CPU_SECONDS
    row = Attachment.objects.get()
    assert (row.state, row.attempts) in {("ready", 1), ("refused", 1)}


def test_what_is_hidden_behind_a_picture_is_gone(attach, api, olga):
    made = attach(picture("PNG") + b"PK\x03\x04<script>alert(1)</script>")
    process()
    answer = api(olga).get(made["url"])
    assert answer.status_code == 200
    assert b"script" not in answer.content
