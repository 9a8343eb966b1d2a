"""A receipt for the demo, and other files of one page."""

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
    at = expense.created_at + timedelta(hours=2)
    page_of(trip, by, "Dinner in Alfama", _TEXT, expense=expense, created_at=at).add()


def page_of(trip: Any, by: Any, name: str, text: str, **fields: Any) -> Attachment:
    """A PDF with a text, which has no row yet."""
    page = Image.new("L", (360, 240), "white")
    ImageDraw.Draw(page).multiline_text((24, 24), text, fill="black", spacing=8)
    file = io.BytesIO()
    page.save(file, "PDF")
    return Attachment(
        trip=trip,
        created_by=by,
        name=f"{name}.pdf",
        type=Kind.PDF,
        size_bytes=len(file.getvalue()),
        file=keep(file),
        **fields,
    )
