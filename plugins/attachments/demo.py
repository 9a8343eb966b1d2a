"""A receipt for the demo."""

import io
from datetime import timedelta
from typing import Any

from PIL import Image, ImageDraw

from plugins.attachments.models import Attachment
from plugins.attachments.recognition import Kind
from plugins.attachments.storage import keep

_TEXT = (
    "Taberna da Alfama\n\nDinner for four   89.50\nTip                5.00\n\n"
    "Total             94.50"
)


def attach_receipt(trip: Any, by: Any) -> None:
    """Attach a receipt to the dinner of a trip, two hours after it was recorded."""
    expense = trip.expenses.get(description__startswith="Dinner in Alfama")
    page = Image.new("L", (360, 240), "white")
    ImageDraw.Draw(page).multiline_text((24, 24), _TEXT, fill="black", spacing=8)
    file = io.BytesIO()
    page.save(file, "PDF")
    Attachment(
        trip=trip,
        expense=expense,
        created_by=by,
        name="Dinner in Alfama.pdf",
        type=Kind.PDF,
        size_bytes=len(file.getvalue()),
        file=keep(file),
        created_at=expense.created_at + timedelta(hours=2),
    ).add()
