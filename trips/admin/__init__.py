"""Accounts and members in the admin site, and columns for rows of a trip."""

from trips.admin import user
from trips.admin.member import BALANCE, MEMBER_COLUMNS, caller_of, money_column, person
