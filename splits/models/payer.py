"""Payers: what each person paid for an expense."""

from django.db import models
from django.db.models import Q

from splits.models.in_trip import InTrip
from users.models import User, summary_of

#: For one expense. Each participant may owe each payer, so this limits its debts.
MAX_PAYERS = 20


class PayerQuerySet(models.QuerySet["Payer"]):
    def with_details(self) -> "PayerQuerySet":
        """With the user, and only the columns that a response contains; first payer first."""
        columns = ("expense", "user", "entered_minor", *summary_of("user"))
        return self.select_related("user").only(*columns).order_by("id")


class Payer(InTrip):
    """What one person paid for an expense; the rows of an expense add up to its amount."""

    expense = models.ForeignKey(
        "splits.Expense", on_delete=models.CASCADE, related_name="payers", db_index=False
    )
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="payments")
    amount_minor = models.BigIntegerField()
    #: As entered, in minor units of the expense's currency.
    entered_minor = models.BigIntegerField()

    objects = PayerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["expense", "user"], name="payer_once_in_expense"),
            models.CheckConstraint(
                condition=Q(amount_minor__gte=0, entered_minor__gt=0)
                | Q(amount_minor__lte=0, entered_minor__lt=0),
                name="payer_amounts_of_one_sign",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} paid {self.amount_minor}"
