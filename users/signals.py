"""Signals of accounts, for what higher layers store about them."""

from django.dispatch import Signal

#: All sessions of `account` were ended; a new password may keep the caller's own. It is sent under
#: the lock of the account, so that what goes on without a session ends in the same transaction.
#: `by` is who did it; `is_reclaimed` is true if nobody had confirmed the address before, so that
#: somebody else may have made the account.
sessions_ended = Signal()
#: `account` is no ADMIN any more, because of `by`; sent under its lock.
admin_ended = Signal()
