"""Signals of trips, for what higher layers keep of their members."""

from django.dispatch import Signal

#: In all entries of `trip`, the person `to` takes the place of `user_id`. It is sent under the lock
#: of the trip.
person_replaced = Signal()
