"""Signals of trips, for what higher layers keep of their members and expenses."""

from django.dispatch import Signal

#: In all entries of `trip`, the person `to` takes the place of `user_id`. It is sent under the lock
#: of the trip.
person_replaced = Signal()

#: The same in what people wrote besides entries. It is sent after `person_replaced`.
author_replaced = Signal()

#: Asks whether an entry of `trip` names the person `user_id`; each receiver answers.
person_sought = Signal()

#: `by` changed `trip`, whose fields were `old`, by their names in the API; `options` has what was
#: sent for `Plugin.trip_options`. It is sent under the trip's lock.
trip_changed = Signal()

#: `by` did something of which members may want a mail. `people` filters their accounts; `event` is
#: a key of `Plugin.notices`, with `trip_id` and perhaps `expense_id`. It is sent under the lock of
#: the trip.
happened = Signal()
