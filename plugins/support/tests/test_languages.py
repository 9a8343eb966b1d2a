"""The admin site in Spanish: whatever is a text, and not data, differs from the English page."""

import re
from html.parser import HTMLParser

import django
import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.utils import timezone, translation

from splits.models import AuditRun, DailyRate, Debt, Expense, Rate
from splits.models.settlement import today
from tests.factories import TripFactory, UserFactory, join, settle, spend
from tests.walked import all_of, answers
from tripcompanion.adminsite.base import page_url
from trips.models import Member, Trip
from users.mail_templates import MailTemplate
from users.models import Mail, ScopedToken, Session, User

pytestmark = pytest.mark.once

#: What is the same in both languages: names and other data, codes, and a few words. Django 6.1 has
#: a few texts without a Spanish translation.
_UNTRANSLATED = "|Run|- Select an option -"
DATA = re.compile(
    r"Trip Companion|Trip \d+|Lisbon|Dinner|Cash|Curl/8|tc_\S+|trips:read|[A-Z2-9]{8}"
    r"|(Olga Owner|Ed Editor|Vera Viewer|Ada Admin|Traveller \d+)( <\S+@\S+>)?"
    r"|\S+@example\.com|Import( \(tc_\S+\))?"
    r"|[A-Z]{3}|SMTPServerDisconnected|nine differences|X-Request-ID: \S+|(debt|expense) \d+: .*"
    r"|(Feb|Mar|May|Jun|Jul|Sep|Oct|Nov) \d{4}|en|es|Error|No|editor|Editor|/|ID"
    r"|1 EUR = .*|127\.0\.0\.1"
    + (_UNTRANSLATED if django.VERSION >= (6, 1) else "")
    + "".join(f"|{text}" for text in all_of("DATA"))
)
AMOUNT = re.compile(r"\W*[\d.,]+(\s[A-Z]{3})?|-")


BROWSER = {"Accept": "text/html,*/*;q=0.8"}


class _Texts(HTMLParser):
    """Collects what a reader, or a screen reader, is told."""

    SHOWN = {"alt", "title", "placeholder", "aria-label", "value"}

    def __init__(self):
        super().__init__()
        self.found: set[str] = set()
        self.skipped = ""

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.skipped = tag if tag in {"script", "style"} else ""
        if tag == "option" or given.get("type") in {"hidden", "checkbox", "text", "email", "url"}:
            given.pop("value", None)
        if tag in {"img"}:
            # Django says "True" and "False" in every language.
            given.pop("alt", None)
        self.found |= {text for name, text in given.items() if name in self.SHOWN and text}

    def handle_data(self, data):
        if not self.skipped:
            self.found.add(data)


def texts_of(page):
    """The texts of a page, without blanks and punctuation around them, without data."""
    reader = _Texts()
    reader.feed(page.content.decode())
    texts = {re.sub(r"\s+", " ", text).strip(" :.,|*›»«") for text in reader.found}
    return {t for t in texts if re.search(r"[^\W\d_]", t) and not AMOUNT.fullmatch(t)}


@pytest.fixture
def rows(trip, ada, olga, ed, vera):
    """At least one row of everything, in each state that a page shows differently."""
    expense = spend(trip, 900_000, paid_by=olga, among=[olga, ed, vera])
    settlement = settle(trip, ed, olga, 1000, note="Cash")
    settle(trip, ed, olga, 100).remove(by=olga)
    Session.start(olga, device="Curl/8", address="127.0.0.1")
    ScopedToken.issue(olga, name="Import", scopes=["trips:read"], trip_id=trip.pk)
    mail = Mail.objects.create(
        user=olga,
        letter=MailTemplate.VERIFY,
        address=olga.email,
        attempts=9,
        error="SMTPServerDisconnected",
        given_up_at=timezone.now(),
    )
    for rates in (Rate, DailyRate):
        rates.objects.create(currency="USD", per_euro="1.1", day=today())
    for one_of_each in answers("one_of_each"):
        one_of_each(trip, olga, olga, expense)
    run = AuditRun.record(timezone.now(), 1, ["nine differences"])
    member = join(TripFactory(), olga)
    member.left_at = timezone.now()
    member.save()
    return {"run": run, "mail": mail, "settlement": settlement, "former member": member}


def pages_of(app, *with_history):
    """The pages about the models of `app` that can be opened, by name."""
    pages = {app: f"/admin/{app}/"}
    for model in admin.site._registry:
        if model._meta.app_label == app:
            row = model._default_manager.order_by("pk").first()
            pages[f"list of {model.__name__}"] = page_url(model, "changelist")
            pages[model.__name__] = page_url(model, "change", row.pk)
    for row in with_history:
        pages |= {
            f"{name} {row}": page_url(type(row), name, row.pk) for name in ("delete", "history")
        }
    return pages


#: The labels of the apps beside the core that have pages.
OTHERS = {model._meta.app_label for model in admin.site._registry} - {"users", "trips", "admin"}


@pytest.mark.parametrize("app", ["users", "trips", *sorted(OTHERS), "admin", "alone"])
def test_no_page_contains_english_for_a_spanish_reader(admin_client, rows, trip, olga, ed, app):
    admin_client.change(trip, title="Trip 1", budget="5")
    admin_client.change(olga, profile_picture="/olga.png", currency="USD", role="ADMIN")
    Debt.objects.update(amount_minor=1_000_000)  # for the audit to complain about
    pages = {
        "users": {**pages_of("users", olga), "add": page_url(User, "add")},
        "trips": {**pages_of("trips", trip), "add": page_url(Member, "add")},
        **{label: pages_of(label) for label in OTHERS},
        "admin": pages_of("admin"),
        "alone": {
            "dashboard": "/admin/",
            "password": "/admin/password_change/",
            "audit": page_url(Trip, "audit", trip.pk),
            "refusal": page_url(Rate, "add"),
            "former member": page_url(Member, "change", rows["former member"].pk),
        },
    }[app]
    in_both = {}
    for name, url in pages.items():
        english, spanish = (
            admin_client.client.get(url, headers={"Accept-Language": language, **BROWSER})
            for language in ("en", "es")
        )
        assert english.status_code == spanish.status_code == (403 if name == "refusal" else 200)
        same = {t for t in texts_of(english) & texts_of(spanish) if not DATA.fullmatch(t)}
        if same:
            in_both[name] = same
    assert in_both == {}


def test_no_action_answers_in_english(admin_client, rows, trip, olga, ed, vera):
    """Each action is done in both languages, on rows of their own, and then logged."""
    seen: dict[str, list[set[str]]] = {}
    for language, user in (("en", UserFactory()), ("es", UserFactory())):
        admin_client.client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        join(trip, user)
        mail = Mail.objects.create(user=user, address=user.email, given_up_at=timezone.now())
        session = Session.start(user)
        token = ScopedToken.issue(user, name="Import", scopes=["trips:read"])
        acts = [
            *(("send_reset_links", user), ("confirm_addresses", user), ("retry", mail)),
            *(("end", session), ("end", token), ("end", Member.objects.get(user=user))),
            *(("log_out", user), ("deactivate", user), ("activate", user), ("renew_codes", trip)),
            ("delete_selected", user),
        ]
        for action, row in acts:
            told = [str(message) for message in admin_client.act(action, row).context["messages"]]
            assert told or action == "delete_selected", action
            shown = {re.sub(r"\W*\d+\W*", "", text) for text in told}
            seen.setdefault(f"{action} {type(row).__name__}", []).append(shown)
    assert [name for name, (english, spanish) in seen.items() if english & spanish] == []
    entries = LogEntry.objects.filter(object_id=user.pk, content_type__model="user")
    assert {entry.change_message for entry in entries if "[" not in entry.change_message} == {
        *("Reset link sent.", "Address confirmed.", "All sessions ended.", "Deactivated."),
        "Reactivated.",
    }
    with translation.override("es"):
        for entry in entries:
            assert translation.gettext(entry.change_message) != entry.change_message


@pytest.mark.parametrize("language", ["en", "es"])
def test_rows_are_titled_as_a_person_would(rows, olga, language):
    debt = Debt.objects.get(debtor__name="Ed Editor")
    with translation.override(language):
        titles = [
            re.sub("\N{NO-BREAK SPACE}", " ", str(row))
            for row in (rows["settlement"], debt, debt.split, rows["settlement"].allocations.get())
        ]
        started = str(Session.objects.get())
    assert (
        titles
        == {
            "en": [
                "Ed Editor to Olga Owner, 10.00 EUR",
                "Ed Editor owes Olga Owner 3,000.00 EUR",
                "Ed Editor, 3,000.00 EUR",
                "10.00 EUR of: Ed Editor to Olga Owner, 10.00 EUR",
            ],
            "es": [
                "De Ed Editor a Olga Owner, 10,00 EUR",
                "Ed Editor debe 3 000,00 EUR a Olga Owner",
                "Ed Editor, 3 000,00 EUR",
                "10,00 EUR de: De Ed Editor a Olga Owner, 10,00 EUR",
            ],
        }[language]
    )
    assert started.startswith({"en": "Olga Owner since ", "es": "Olga Owner desde el "}[language])


def test_amounts_are_aligned_and_in_the_format_of_the_reader(admin_client, rows, trip):
    for language, amount in (("en", "9,000.00 EUR"), ("es", "9 000,00 EUR")):
        headers = {"Accept-Language": language}
        listed = admin_client.client.get(page_url(Expense, "changelist"), headers=headers)
        shown = admin_client.client.get(page_url(Trip, "change", trip.pk), headers=headers)
        for page, cell in ((listed, "field-amount_minor"), (shown, "amount")):
            source = page.content.decode().replace("\N{NO-BREAK SPACE}", " ")
            assert f'<td class="{cell}">{amount}</td>' in source
    styles = b"".join(admin_client.client.get("/static/adminsite/admin.css").streaming_content)
    assert b'td[class*="_minor"]' in styles
    assert b"td.amount" in styles
